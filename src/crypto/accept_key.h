/* accept_key.h - the reply to a WebSocket handshake (RFC 6455 4.2.2): SHA-1 and base64 of what the
 * client sent. It proves that we speak the protocol, and nothing else. */
#ifndef CRYPTO_ACCEPT_KEY_H
#define CRYPTO_ACCEPT_KEY_H

enum { ACCEPT_KEY_BYTES = 29 }; /* with the NUL */
void accept_key(const char *key, char out[ACCEPT_KEY_BYTES]);

#endif

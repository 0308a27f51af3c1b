/* tls_fixture.h - certificates of an authority of the test's own, made by the openssl program, in a
 * directory that goes with the test. */
#ifndef UNIT_TLS_FIXTURE_H
#define UNIT_TLS_FIXTURE_H
#include <stdbool.h>

struct tls_files {
    char directory[64];
    char ca[128], other_ca[128];
    char certificate[128], key[128];             /* for localhost and 127.0.0.1 */
    char expired[128];                           /* the same key, for yesterday */
    char locked_key[128];                        /* the same key, with a passphrase */
    char other_certificate[128], other_key[128]; /* for elsewhere.example */
};
void tls_files_make(struct tls_files *files);
void tls_files_remove(const struct tls_files *files);

#endif

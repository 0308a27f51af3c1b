/* tls.c - see tls.h. OpenSSL works on two memory BIOs; what comes out of it is kept in a text. */
#include "net/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "i18n/i18n.h"

/*
 * OpenSSL, loaded when TLS is configured and not before: a hub or client without TLS neither starts
 * slower for it nor needs it installed. Each function under its own name, with the type that the
 * headers give it.
 */
struct tls_library {
#define TLS(name) __typeof__(name) *name;
#include "net/tls_library.def"
#undef TLS
};

static struct tls_library openssl;
static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct os_function functions[] = {
#define TLS(name) { #name, offsetof(struct tls_library, name), OS_LINKED(name) },
#include "net/tls_library.def"
#undef TLS
};

static void load(void)
{
    const char *missing;

    /* and libcrypto, which it needs */
    is_loaded = os_load("libssl.so.3", functions, ARRAY_LEN(functions), &openssl, &missing);
}

/* False: it is not there, or not of version 3; `err` says what to install. May be called from any
 * thread. */
static bool has_library(struct error *err)
{
    pthread_once(&once, load);
    return is_loaded || error_say(err, ERROR_unavailable, "", TEXT_REASON_TLS_LIBRARY, NULL);
}

/* For TLS 1.2; those of 1.3 are all of this kind: forward secret, authenticated. */
static const char ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

struct tls_context {
    SSL_CTX *ctx;
};

struct tls {
    SSL *ssl;
    BIO *in, *out; /* of ssl */
    struct text unsent;
    size_t sent; /* of it */
    size_t owed; /* what the caller wrote and has not been told to be with the kernel yet */
    bool has_failed, has_ended;
    char why[160]; /* it failed */
};

static struct tls_context *context_new(const SSL_METHOD *(*method)(void))
{
    struct tls_context *context = mem_new(sizeof *context);

    context->ctx = openssl.SSL_CTX_new(method());
    if (!context->ctx)
        abort(); /* out of memory */
    openssl.SSL_CTX_ctrl(context->ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    openssl.SSL_CTX_set_cipher_list(context->ctx, ciphers);
    /* Nothing is kept between connections: a ticket of one hub would mean nothing to the next. */
    openssl.SSL_CTX_set_options(context->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                                  SSL_OP_NO_TICKET |
                                                  SSL_OP_CIPHER_SERVER_PREFERENCE);
    openssl.SSL_CTX_set_num_tickets(context->ctx, 0);
    openssl.SSL_CTX_ctrl(context->ctx, SSL_CTRL_SET_SESS_CACHE_MODE, SSL_SESS_CACHE_OFF, NULL);
    openssl.SSL_CTX_ctrl(context->ctx, SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, NULL);
    return context;
}

void tls_context_free(struct tls_context *context)
{
    if (context)
        openssl.SSL_CTX_free(context->ctx);
    free(context);
}

/* OpenSSL's own words for what went wrong last; never of a key's content. */
static const char *last_reason(void)
{
    unsigned long code = openssl.ERR_peek_error();
    const char *reason = code ? openssl.ERR_reason_error_string(code) : NULL;

    return reason ? reason : "no reason was given";
}

/* OpenSSL would ask at the terminal, and a hub would wait there for ever. */
static int know_no_passphrase(char *out, int size, int is_writing, void *context)
{
    if (size > 0)
        out[0] = '\0';
    (void)is_writing;
    (void)context;
    return -1;
}

static bool use_files(const struct tls_context *context, const char *certificate_file,
                      const char *key_file, struct error *err)
{
    bool is_read, is_other;

    openssl.SSL_CTX_set_default_passwd_cb(context->ctx, know_no_passphrase);
    openssl.ERR_clear_error();
    if (openssl.SSL_CTX_use_certificate_chain_file(context->ctx, certificate_file) != 1)
        return error_say(err, ERROR_unavailable, "/tls_cert", TEXT_REASON_TLS_CERT, "path",
                         certificate_file, "reason", last_reason(), NULL);
    is_read = openssl.SSL_CTX_use_PrivateKey_file(context->ctx, key_file, SSL_FILETYPE_PEM) == 1;
    is_other = !is_read && strstr(last_reason(), "mismatch");
    if (!is_read && !is_other)
        return error_say(err, ERROR_unavailable, "/tls_key", TEXT_REASON_TLS_KEY, "path", key_file,
                         "reason", last_reason(), NULL);
    if (is_other || openssl.SSL_CTX_check_private_key(context->ctx) != 1)
        return error_say(err, ERROR_unavailable, "/tls_key", TEXT_REASON_TLS_PAIR, "path", key_file,
                         "other", certificate_file, NULL);
    return true;
}

bool tls_context_new_server(const char *certificate_file, const char *key_file,
                            struct tls_context **ret_context, struct error *err)
{
    struct tls_context *context;

    if (!has_library(err))
        return false;
    context = context_new(openssl.TLS_server_method);
    if (!use_files(context, certificate_file, key_file, err)) {
        tls_context_free(context);
        return false;
    }
    *ret_context = context;
    return true;
}

static bool read_time(const ASN1_TIME *time, int64_t *ret_ms)
{
    struct tm parts = { 0 };

    if (!time || openssl.ASN1_TIME_to_tm(time, &parts) != 1)
        return false;
    *ret_ms = (int64_t)timegm(&parts) * 1000;
    return true;
}

bool tls_context_times(const struct tls_context *context, int64_t *ret_from_ms, int64_t *ret_to_ms)
{
    const X509 *certificate = openssl.SSL_CTX_get0_certificate(context->ctx);

    return certificate && read_time(openssl.X509_get0_notBefore(certificate), ret_from_ms) &&
           read_time(openssl.X509_get0_notAfter(certificate), ret_to_ms);
}

bool tls_context_new_client(const char *ca_file, struct tls_context **ret_context,
                            struct error *err)
{
    struct tls_context *context;
    int loaded;

    if (!has_library(err))
        return false;
    context = context_new(openssl.TLS_client_method);
    openssl.SSL_CTX_set_verify(context->ctx, SSL_VERIFY_PEER, NULL);
    openssl.ERR_clear_error();
    loaded = ca_file ? openssl.SSL_CTX_load_verify_file(context->ctx, ca_file)
                     : openssl.SSL_CTX_set_default_verify_paths(context->ctx);
    if (loaded != 1) {
        tls_context_free(context);
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CA_FILE, "path",
                         ca_file ? ca_file : "the system's store", "reason", last_reason(), NULL);
    }
    *ret_context = context;
    return true;
}

static struct tls *tls_new(const struct tls_context *context)
{
    struct tls *tls = mem_new(sizeof *tls);

    tls->ssl = openssl.SSL_new(context->ctx);
    tls->in = openssl.BIO_new(openssl.BIO_s_mem());
    tls->out = openssl.BIO_new(openssl.BIO_s_mem());
    if (!tls->ssl || !tls->in || !tls->out)
        abort();                                                       /* out of memory */
    openssl.BIO_ctrl(tls->in, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, NULL); /* empty: more may come */
    openssl.SSL_set0_rbio(tls->ssl, tls->in);
    openssl.SSL_set0_wbio(tls->ssl, tls->out);
    return tls;
}

struct tls *tls_new_server(const struct tls_context *context)
{
    struct tls *tls = tls_new(context);

    openssl.SSL_set_accept_state(tls->ssl);
    return tls;
}

static bool is_address(const char *host)
{
    uint8_t bytes[16];

    return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

struct tls *tls_new_client(const struct tls_context *context, const char *host)
{
    struct tls *tls = tls_new(context);
    int named;

    openssl.SSL_set_connect_state(tls->ssl);
    openssl.SSL_set_hostflags(tls->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (is_address(host)) {
        named = openssl.X509_VERIFY_PARAM_set1_ip_asc(openssl.SSL_get0_param(tls->ssl), host);
    } else {
        named = openssl.SSL_set1_host(tls->ssl, host);
        openssl.SSL_ctrl(tls->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                         (void *)(uintptr_t)host);
    }
    if (named != 1)
        abort(); /* a certificate for anybody would do: never */
    return tls;
}

void tls_free(struct tls *tls)
{
    if (!tls)
        return;
    openssl.SSL_free(tls->ssl); /* and its BIOs */
    text_release(&tls->unsent);
    free(tls);
}

void tls_feed(struct tls *tls, const char *bytes, size_t length)
{
    if (tls->has_failed || length == 0)
        return;
    if (length > INT_MAX || openssl.BIO_write(tls->in, bytes, (int)length) != (int)length)
        abort(); /* out of memory */
}

static void collect(struct tls *tls)
{
    char bytes[4096];
    int got;

    while ((got = openssl.BIO_read(tls->out, bytes, sizeof bytes)) > 0)
        text_add(&tls->unsent, bytes, (size_t)got);
}

static void note_failure(struct tls *tls)
{
    long verified = openssl.SSL_get_verify_result(tls->ssl);

    tls->has_failed = true;
    snprintf(tls->why, sizeof tls->why, "%s",
             verified == X509_V_OK ? last_reason()
                                   : openssl.X509_verify_cert_error_string(verified));
}

/* What a call that did not simply work came to. */
static enum tls_outcome judge(struct tls *tls, int returned)
{
    int error = openssl.SSL_get_error(tls->ssl, returned);

    collect(tls);
    if (error == SSL_ERROR_WANT_READ)
        return TLS_WANTS_MORE;
    if (error == SSL_ERROR_ZERO_RETURN)
        return TLS_ENDED;
    note_failure(tls);
    return TLS_FAILED;
}

bool tls_has_failed(const struct tls *tls)
{
    return tls->has_failed;
}

bool tls_is_ready(const struct tls *tls)
{
    return !tls->has_failed && openssl.SSL_is_init_finished(tls->ssl) == 1;
}

enum tls_outcome tls_handshake(struct tls *tls)
{
    int returned;

    if (tls->has_failed)
        return TLS_FAILED;
    openssl.ERR_clear_error();
    returned = openssl.SSL_do_handshake(tls->ssl);
    if (returned != 1)
        return judge(tls, returned);
    collect(tls);
    return TLS_DONE;
}

enum tls_outcome tls_read(struct tls *tls, char *bytes, size_t size, size_t *ret_length)
{
    int got;

    *ret_length = 0;
    if (tls->has_failed)
        return TLS_FAILED;
    openssl.ERR_clear_error();
    got = openssl.SSL_read(tls->ssl, bytes, size < INT_MAX ? (int)size : INT_MAX);
    if (got <= 0)
        return judge(tls, got);
    collect(tls);
    *ret_length = (size_t)got;
    return TLS_DONE;
}

bool tls_write(struct tls *tls, const char *bytes, size_t length)
{
    int put;

    if (!tls_is_ready(tls) || tls->has_ended || length > INT_MAX)
        return false;
    if (length == 0)
        return true;
    openssl.ERR_clear_error();
    put = openssl.SSL_write(tls->ssl, bytes, (int)length);
    if (put <= 0)
        judge(tls, put); /* memory is never full: whatever it is, it is the end */
    collect(tls);
    return put > 0;
}

void tls_end(struct tls *tls)
{
    if (!tls_is_ready(tls) || tls->has_ended)
        return;
    tls->has_ended = true;
    openssl.ERR_clear_error();
    openssl.SSL_shutdown(tls->ssl);
    collect(tls);
}

size_t tls_unsent(const struct tls *tls)
{
    return tls->unsent.used - tls->sent;
}

const char *tls_out(const struct tls *tls, size_t *ret_length)
{
    *ret_length = tls_unsent(tls);
    return tls->unsent.bytes + tls->sent;
}

void tls_sent(struct tls *tls, size_t length)
{
    tls->sent += length;
    if (tls->sent == tls->unsent.used) {
        text_release(&tls->unsent);
        tls->sent = 0;
    }
}

void tls_leave_thread(void)
{
    struct error err;

    if (has_library(&err))
        openssl.OPENSSL_thread_stop();
}

void tls_explain(const struct tls *tls, struct error *err)
{
    error_set(err, ERROR_unavailable, "", "%s", tls->why[0] ? tls->why : "it ended");
}

/* A socket with or without TLS. */
enum {
    STREAM_CHUNK_BYTES = 16384, /* read at a time; with an unfinished record it fits */
    STREAM_RECORD_BYTES = 16384,
};

bool stream_is_open(const struct tls *tls)
{
    return !tls || tls_is_ready(tls);
}

bool stream_is_stuck(const struct tls *tls)
{
    return tls && tls_unsent(tls) > 0;
}

/* As much as the kernel takes; false: the connection is broken. */
static bool flush(int fd, struct tls *tls)
{
    while (tls_unsent(tls) > 0) {
        size_t length;
        const char *bytes = tls_out(tls, &length);
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN;
        tls_sent(tls, (size_t)sent);
    }
    return true;
}

/* Every whole record that is there. */
static ssize_t take_records(struct tls *tls, char *bytes, size_t size)
{
    size_t used = 0, got;
    enum tls_outcome outcome = TLS_DONE;

    while (used < size && (outcome = tls_read(tls, bytes + used, size - used, &got)) == TLS_DONE)
        used += got;
    if (used > 0)
        return (ssize_t)used; /* an end or a failure is found again by the next read */
    if (outcome == TLS_ENDED)
        return 0;
    errno = outcome == TLS_WANTS_MORE ? EAGAIN : ECONNRESET;
    return -1;
}

static ssize_t recv_tls(int fd, struct tls *tls, char *bytes, size_t size)
{
    char chunk[STREAM_CHUNK_BYTES];
    ssize_t came = recv(fd, chunk, sizeof chunk, 0), got;
    int why;

    if (came <= 0)
        return came;
    tls_feed(tls, chunk, (size_t)came);
    got = take_records(tls, bytes, size);
    why = errno;
    if (!flush(fd, tls) && got < 0)
        return -1;
    errno = why;
    return got;
}

ssize_t stream_recv(int fd, struct tls *tls, char *bytes, size_t size)
{
    return tls ? recv_tls(fd, tls, bytes, size) : recv(fd, bytes, size, 0);
}

/* One record at a time: what waits in here is never more than one. */
static ssize_t send_tls(int fd, struct tls *tls, const char *bytes, size_t length)
{
    size_t owed = tls->owed;

    if (owed == 0 && !stream_is_stuck(tls)) {
        owed = length < STREAM_RECORD_BYTES ? length : STREAM_RECORD_BYTES;
        if (!tls_write(tls, bytes, owed)) {
            errno = EPIPE;
            return -1;
        }
        tls->owed = owed;
    }
    if (!flush(fd, tls))
        return -1;
    if (stream_is_stuck(tls)) {
        errno = EAGAIN;
        return -1;
    }
    if (owed == 0) /* it was TLS's own */
        return send_tls(fd, tls, bytes, length);
    tls->owed = 0;
    return (ssize_t)owed;
}

ssize_t stream_send(int fd, struct tls *tls, const char *bytes, size_t length)
{
    return tls ? send_tls(fd, tls, bytes, length) : send(fd, bytes, length, MSG_NOSIGNAL);
}

bool stream_flush(int fd, struct tls *tls)
{
    return !tls || flush(fd, tls);
}

bool stream_shut(int fd, struct tls *tls)
{
    if (tls) {
        tls_end(tls);
        if (!flush(fd, tls))
            return false;
    }
    return shutdown(fd, SHUT_WR) == 0;
}

void stream_close(int fd, struct tls *take_tls)
{
    if (take_tls) {
        tls_end(take_tls);
        flush(fd, take_tls); /* as far as it goes */
        tls_free(take_tls);
    }
    close(fd);
}

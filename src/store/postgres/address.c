#include "store/postgres/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/postgres/libpq.h"

enum { ADDRESS_MAX_HOSTS = 16, ADDRESS_MAX_OWN = 32, ADDRESS_CONNECT_S = 5 };

struct address {
    PQconninfoOption *parts; /* libpq's; those with a value were set */
    char *hosts[ADDRESS_MAX_HOSTS], *ports[ADDRESS_MAX_HOSTS]; /* to be looked up */
    size_t host_count;
    char *options, *shown;
    int64_t connect_ms;
    bool is_pooled, has_no_options;
};

/* What holds of every connection unless the setting says otherwise. A peer that is gone without a
 * word is noticed within some seconds; Kerberos would make libpq wait. */
static const struct {
    const char *keyword, *value;
} defaults[] = {
    { "tcp_user_timeout", "5000" },
    { "keepalives_idle", "5" },
    { "keepalives_interval", "2" },
    { "keepalives_count", "2" },
    { "target_session_attrs", "read-write" },
    { "application_name", "sayso" },
    { "gssencmode", "disable" },
};
/* A session that hangs lets go of what it holds; and whatever the server's own habits are, results
 * look the same and a transaction means the same. A plan is kept as long as its session: one that
 * was made for a small table must be good for a large one. */
static const char session_options[] =
    "-c statement_timeout=10s -c lock_timeout=5s -c idle_in_transaction_session_timeout=5s "
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=2 "
    "-c client_min_messages=warning -c bytea_output=hex -c jit=off -c enable_seqscan=off "
    "-c default_transaction_isolation=read\\ committed";

bool address_is_ours(const char *url)
{
    return strncasecmp(url, "postgres:", 9) == 0 || strncasecmp(url, "postgresql:", 11) == 0;
}

static const char *part(const struct address *address, const char *keyword)
{
    for (const PQconninfoOption *at = address->parts; at->keyword; at++) {
        if (strcmp(at->keyword, keyword) == 0)
            return at->val && *at->val ? at->val : NULL;
    }
    return NULL;
}

/* A password with an @ or a / in it ends up elsewhere; none of that may be shown. */
static bool check(const struct address *address, struct error *err)
{
    const char *host = part(address, "host"), *port = part(address, "port");
    const char *database = part(address, "dbname");

    if ((host && strpbrk(host, "@ ")) || (port && port[strspn(port, "0123456789,")]) ||
        (database && strchr(database, '@')))
        return error_set(err, ERROR_bad_format, "",
                         "the setting store is no address that can be read: in user names and "
                         "passwords write @ as %%40, : as %%3A and / as %%2F "
                         "(postgres://USER:PASSWORD@HOST:PORT/DATABASE)");
    return true;
}

/* Splits at commas; how many there were. */
static size_t split(const char *list, char **out, size_t max)
{
    size_t count = 0;

    while (list && count < max) {
        const char *end = strchrnul(list, ',');

        out[count++] = mem_text_n(list, (size_t)(end - list));
        list = *end ? end + 1 : NULL;
    }
    return count;
}

static bool is_path(const char *host)
{
    return host[0] == '/' || host[0] == '@' || host[0] == '\0';
}

/* libpq blocks the loop while it looks names up, so that is done for it. Where a socket of this
 * machine is among them, or the address has numbers already (hostaddr), they stay as they are. */
static void take_hosts(struct address *address)
{
    char *ports[ADDRESS_MAX_HOSTS];
    size_t port_count;

    if (!part(address, "host") || part(address, "hostaddr"))
        return;
    address->host_count = split(part(address, "host"), address->hosts, ADDRESS_MAX_HOSTS);
    port_count = split(part(address, "port"), ports, ADDRESS_MAX_HOSTS);
    for (size_t i = 0; i < address->host_count; i++) {
        const char *own = port_count > 1 ? (i < port_count ? ports[i] : "") : "";

        address->ports[i] = mem_text(port_count == 1 ? ports[0] : own);
        if (is_path(address->hosts[i]))
            address->host_count = 0; /* those before it are freed with the rest */
    }
    for (size_t i = 0; i < port_count; i++)
        free(ports[i]);
}

static char *make_shown(const struct address *address)
{
    const char *user = part(address, "user"), *host = part(address, "host");
    const char *port = part(address, "port"), *database = part(address, "dbname");
    struct text out = { 0 };

    if (!host)
        host = part(address, "hostaddr");
    text_add_format(&out, "postgres://%s%s%s", user ? user : "", user ? "@" : "", host ? host : "");
    text_add_format(&out, "%s%s/%s", port ? ":" : "", port ? port : "", database ? database : "");
    return text_take(&out);
}

static int64_t read_connect_ms(const struct address *address)
{
    const char *text = part(address, "connect_timeout");
    int64_t seconds = ADDRESS_CONNECT_S;

    if (text && (!text_parse_integer(text, &seconds) || seconds < 1 || seconds > 600))
        seconds = ADDRESS_CONNECT_S;
    return seconds * 1000;
}

bool address_parse(const char *url, struct address **ret_address, struct error *err)
{
    struct address *address;
    PQconninfoOption *parts;
    char *why = NULL;

    parts = libpq.conninfoParse(url, &why);
    libpq.freemem(why); /* it repeats the whole address, password and all */
    if (!parts)
        return error_set(err, ERROR_bad_format, "",
                         "the setting store is no address that can be read: it is "
                         "postgres://USER:PASSWORD@HOST:PORT/DATABASE, with @ in names and "
                         "passwords as %%40, : as %%3A, / as %%2F and %% as %%25");
    address = mem_new(sizeof *address);
    address->parts = parts;
    if (!check(address, err)) {
        address_free(address);
        return false;
    }
    take_hosts(address);
    address->connect_ms = read_connect_ms(address);
    address->shown = make_shown(address);
    address->options = mem_format("%s%s%s", session_options, part(address, "options") ? " " : "",
                                  part(address, "options") ? part(address, "options") : "");
    *ret_address = address;
    return true;
}

void address_free(struct address *address)
{
    if (!address)
        return;
    libpq.conninfoFree(address->parts);
    for (size_t i = 0; i < ADDRESS_MAX_HOSTS; i++) {
        free(address->hosts[i]);
        free(address->ports[i]);
    }
    free(address->options);
    free(address->shown);
    free(address);
}

const char *address_shown(const struct address *address)
{
    return address->shown;
}

int64_t address_connect_ms(const struct address *address)
{
    return address->connect_ms;
}

void address_set_pooled(struct address *address)
{
    address->is_pooled = true;
}

bool address_is_pooled(const struct address *address)
{
    return address->is_pooled;
}

void address_drop_options(struct address *address)
{
    address->is_pooled = address->has_no_options = true;
}

const char *address_host(const struct address *address, size_t number)
{
    return number < address->host_count ? address->hosts[number] : NULL;
}

static void add_one(struct address_keywords *out, int *count, const char *keyword,
                    const char *value)
{
    out->keywords[*count] = keyword;
    out->values[(*count)++] = value;
}

/* One entry a number: the name for the certificate, the number to go to, the port. */
static bool list_numbers(const struct address *address, char *const *numbers, size_t first,
                         struct address_keywords *out)
{
    struct text hosts = { 0 }, all = { 0 }, ports = { 0 };

    for (size_t n = 0; n < address->host_count; n++) {
        size_t i = (first + n) % address->host_count, count;
        char *each[ADDRESS_MAX_OWN];

        count = split(numbers[i], each, ADDRESS_MAX_OWN);
        for (size_t j = 0; j < count; j++) {
            text_add_format(&hosts, "%s%s", all.used ? "," : "", address->hosts[i]);
            text_add_format(&ports, "%s%s", all.used ? "," : "", address->ports[i]);
            text_add_format(&all, "%s%s", all.used ? "," : "", each[j]);
            free(each[j]);
        }
    }
    out->hosts = text_take(&hosts);
    out->numbers = text_take(&all);
    out->ports = text_take(&ports);
    return *out->numbers;
}

static void list_keywords(const struct address *address, struct address_keywords *out)
{
    int count = 0;

    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        if (!part(address, defaults[i].keyword))
            add_one(out, &count, defaults[i].keyword, defaults[i].value);
    }
    for (const PQconninfoOption *at = address->parts; at->keyword; at++) {
        bool is_listed =
            out->hosts && (strcmp(at->keyword, "host") == 0 || strcmp(at->keyword, "port") == 0);

        if (at->val && *at->val && !is_listed && strcmp(at->keyword, "options") != 0)
            add_one(out, &count, at->keyword, at->val);
    }
    add_one(out, &count, "client_encoding", "UTF8");
    if (!address->has_no_options)
        add_one(out, &count, "options", address->options);
    if (out->hosts) {
        add_one(out, &count, "host", out->hosts);
        add_one(out, &count, "hostaddr", out->numbers);
        add_one(out, &count, "port", out->ports);
    }
}

bool address_keywords_init(const struct address *address, char *const *numbers, size_t first,
                           struct address_keywords *out)
{
    *out = (struct address_keywords){ 0 };
    if (numbers && address->host_count > 0 && !list_numbers(address, numbers, first, out)) {
        address_keywords_release(out);
        return false;
    }
    list_keywords(address, out);
    return true;
}

void address_keywords_release(struct address_keywords *keywords)
{
    free(keywords->hosts);
    free(keywords->numbers);
    free(keywords->ports);
    *keywords = (struct address_keywords){ 0 };
}

static void no_notice(void *context, const char *message)
{
    (void)context; /* standard error is not libpq's to write to */
    (void)message;
}

PGconn *address_connect(struct address_keywords *keywords)
{
    PGconn *connection =
        mem_or_abort(libpq.connectStartParams(keywords->keywords, keywords->values, 0));

    address_keywords_release(keywords);
    libpq.setNoticeProcessor(connection, no_notice, NULL);
    libpq.setErrorVerbosity(connection, PQERRORS_VERBOSE); /* with the SQLSTATE */
    return connection;
}

void address_clean(const struct address *address, const char *said, char *out, size_t size)
{
    const char *secret = part(address, "password");
    size_t secret_bytes = secret ? strlen(secret) : 0, used = 0;

    while (*said && *said != '\n' && used + 4 < size) {
        if (secret_bytes > 0 && strncmp(said, secret, secret_bytes) == 0) {
            memcpy(out + used, "***", 3);
            used += 3;
            said += secret_bytes;
            continue;
        }
        out[used++] = (unsigned char)*said < ' ' || (unsigned char)*said > '~' ? '?' : *said;
        said++;
    }
    out[used] = '\0';
}

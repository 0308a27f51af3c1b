/* site.c - see site.h. */
#include "hub/site.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "base/error.h"
#include "base/os.h"
#include "net/http.h"
#include "net/origin.h"
#include "net/tls.h"
#include "settings/settings.h"

bool site_is_wanted(const struct settings *settings)
{
    return settings_text(settings, SETTING_LISTEN)[0] != '\0';
}

static bool is_loopback(const char *address)
{
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, address, &four) == 1)
        return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static bool read_public_url(const char *url, struct http_site *site, struct error *err)
{
    if (url[0] == '\0' || origin_read_url(url, site))
        return true;
    return error_set(err, ERROR_bad_format, "/public_url",
                     "public_url must be https://NAME or https://NAME:PORT, nothing behind it");
}

bool site_read(const struct settings *settings, struct http_site *ret_site, struct error *err)
{
    bool has_certificate = settings_text(settings, SETTING_TLS_CERT)[0] != '\0';
    bool has_key = settings_text(settings, SETTING_TLS_KEY)[0] != '\0';

    *ret_site = (struct http_site){ .host = "", .has_tls = has_certificate };
    if (!setting_read_listen(settings_text(settings, SETTING_LISTEN), ret_site->address,
                             sizeof ret_site->address, &ret_site->port))
        return error_set(err, ERROR_bad_format, "/listen",
                         "listen must be ADDRESS:PORT with an IP address: 0.0.0.0:7443, [::]:7443");
    if (has_certificate != has_key)
        return error_set(err, ERROR_missing_property, has_key ? "/tls_cert" : "/tls_key",
                         "tls_cert and tls_key belong together: set both, or neither");
    if (!has_certificate && !is_loopback(ret_site->address) &&
        !settings_is_on(settings, SETTING_LISTEN_PLAIN))
        return error_set(err, ERROR_missing_property, "/tls_cert",
                         "listen on %s needs TLS, because tokens would go over the network in the "
                         "clear: set tls_cert and tls_key, or listen_plain on where a balancer in "
                         "front of it speaks TLS",
                         ret_site->address);
    return read_public_url(settings_text(settings, SETTING_PUBLIC_URL), ret_site, err);
}

bool site_load_tls(const struct settings *settings, struct tls_context **ret_tls, struct error *err)
{
    const char *certificate = settings_text(settings, SETTING_TLS_CERT);
    const char *key = settings_text(settings, SETTING_TLS_KEY);

    *ret_tls = NULL;
    return certificate[0] == '\0' ||
           (os_private_file(key, err) && tls_context_new_server(certificate, key, ret_tls, err));
}

/* examine_listener.c - see examine.h. It loads the certificate as a hub would, and opens no port.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"
#include "hub/examine.h"
#include "hub/site.h"
#include "net/http.h"
#include "net/tls.h"
#include "settings/settings.h"
#include "wire/place.h"

/* A file, too: who reads from a pipe waits for ever. */
static bool is_readable(const char *path, struct error *err)
{
    struct stat found;

    if (stat(path, &found) != 0 || access(path, R_OK) != 0)
        return error_set(err, ERROR_unavailable, "", "%s", strerror(errno));
    return S_ISREG(found.st_mode) ||
           error_set(err, ERROR_unavailable, "", "%s is not a file", path);
}

static enum hub_listening examine_tls(const struct settings *settings, struct hub_listener *out,
                                      struct error *err)
{
    struct tls_context *tls = NULL;

    text_put(out->certificate, sizeof out->certificate, settings_text(settings, SETTING_TLS_CERT));
    text_put(out->key, sizeof out->key, settings_text(settings, SETTING_TLS_KEY));
    if (!out->certificate[0])
        return HUB_LISTENS_PLAIN;
    if (!is_readable(out->certificate, err))
        return HUB_TLS_CERT_AWAY;
    if (!is_readable(out->key, err))
        return HUB_TLS_KEY_AWAY;
    if (!os_private_file(out->key, err))
        return HUB_TLS_KEY_OPEN;
    if (!site_load_tls(settings, &tls, err))
        return err->path[0] ? HUB_TLS_UNFIT : HUB_TLS_MISSING;
    tls_context_times(tls, &out->from_ms, &out->to_ms);
    tls_context_free(tls);
    return HUB_LISTENS_TLS;
}

enum hub_listening hub_examine_listener(const struct place *place, struct hub_listener *out,
                                        struct error *err)
{
    struct settings *settings = settings_new();
    enum hub_listening listening;
    struct http_site site;

    *out = (struct hub_listener){ .to_ms = INT64_MAX };
    settings_load(settings, place->settings);
    text_put(out->where, sizeof out->where, settings_text(settings, SETTING_LISTEN));
    if (settings_problem(settings, err)) {
        listening = HUB_LISTENS_BADLY;
    } else if (!site_is_wanted(settings)) {
        listening = HUB_LISTENS_NOWHERE;
    } else if (!site_read(settings, &site, err)) {
        listening = HUB_LISTENS_BADLY;
    } else {
        out->port = site.port;
        listening = examine_tls(settings, out, err);
    }
    settings_free(settings);
    return listening;
}

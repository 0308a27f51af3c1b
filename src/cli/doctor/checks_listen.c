/* checks_listen.c - the listener for other machines: its settings, certificate, key and port. */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"

enum { DATE_BYTES = 16 };
static const int64_t SOON_MS = 14LL * 86400000;

static void write_date(int64_t utc_ms, char out[DATE_BYTES])
{
    time_t when = (time_t)(utc_ms / 1000);
    struct tm parts;

    gmtime_r(&when, &parts);
    strftime(out, DATE_BYTES, "%F", &parts);
}

/* One that lives for days only is renewed later than one for a year. */
static bool ends_soon(const struct hub_listener *listener, int64_t now_ms)
{
    int64_t soon_ms = (listener->to_ms - listener->from_ms) / 6;

    return listener->to_ms - now_ms < (soon_ms < SOON_MS ? soon_ms : SOON_MS);
}

/* False: reported. */
static bool judge_times(struct doctor *doctor, const struct hub_listener *listener)
{
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    char from[DATE_BYTES], to[DATE_BYTES];

    write_date(listener->from_ms, from);
    write_date(listener->to_ms, to);
    if (now_ms >= listener->to_ms)
        doctor_fault(doctor, TEXT_FOUND_LISTEN_ENDED, TEXT_MEND_LISTEN_RENEW, "path",
                     listener->certificate, "date", to);
    else if (now_ms < listener->from_ms)
        doctor_fault(doctor, TEXT_FOUND_LISTEN_EARLY, TEXT_MEND_LISTEN_EARLY, "path",
                     listener->certificate, "date", from);
    else if (ends_soon(listener, now_ms))
        doctor_warning(doctor, TEXT_FOUND_LISTEN_ENDS, TEXT_MEND_LISTEN_RENEW, "path",
                       listener->certificate, "date", to);
    else
        return true;
    return false;
}

/* What can only be seen by whether a hub runs. False: reported. */
static bool judge_port(struct doctor *doctor, const struct hub_listener *listener)
{
    int64_t owner = listener->port && !doctor->note.pid ? os_port_owner(listener->port) : -1;

    if (owner >= 0)
        doctor_fault(doctor, TEXT_FOUND_LISTEN_TAKEN, TEXT_MEND_LISTEN_TAKEN, "port",
                     say_number(listener->port), "owner", say_number(owner));
    else if (doctor->note.pid && !doctor->hub_listens)
        doctor_warning(doctor, TEXT_FOUND_LISTEN_NOT, TEXT_MEND_LISTEN_NOT, "where",
                       listener->where, "log", doctor->place.log);
    else
        return true;
    return false;
}

static void report_good(struct doctor *doctor, const struct hub_listener *listener, bool has_tls)
{
    char to[DATE_BYTES];

    if ((has_tls && !judge_times(doctor, listener)) || !judge_port(doctor, listener))
        return;
    write_date(has_tls ? listener->to_ms : 0, to);
    doctor_ok(doctor, has_tls ? TEXT_FOUND_LISTEN_TLS : TEXT_FOUND_LISTEN_PLAIN, "where",
              listener->where, "path", listener->certificate, "date", to);
}

static void report_key_open(struct doctor *doctor, const char *key, const char *why)
{
    struct stat found;
    bool is_own = stat(key, &found) == 0 && S_ISREG(found.st_mode) && found.st_mode & 077;

    doctor_fault(doctor, TEXT_FOUND_LISTEN_BAD, is_own ? TEXT_MEND_FILE_MODE : TEXT_MEND_LISTEN_KEY,
                 "message", why, "path", key);
}

void check_listen(struct doctor *doctor)
{
    static const struct {
        enum text_id found, remedy;
    } rows[] = {
        [HUB_LISTENS_BADLY] = { TEXT_FOUND_LISTEN_BAD, TEXT_MEND_LISTEN_BAD },
        [HUB_TLS_CERT_AWAY] = { TEXT_FOUND_LISTEN_AWAY, TEXT_MEND_LISTEN_CERT },
        [HUB_TLS_KEY_AWAY] = { TEXT_FOUND_LISTEN_AWAY, TEXT_MEND_LISTEN_KEY },
        [HUB_TLS_UNFIT] = { TEXT_FOUND_LISTEN_BAD, TEXT_MEND_LISTEN_UNFIT },
        [HUB_TLS_MISSING] = { TEXT_FOUND_LISTEN_BAD, TEXT_MEND_LISTEN_MISSING },
    };
    struct hub_listener listener;
    struct error err = { 0 };
    enum hub_listening listening;
    struct text why = { 0 };

    if (!doctor->has_place || !doctor->has_settings)
        return; /* said elsewhere */
    listening = hub_examine_listener(&doctor->place, &listener, &err);
    say_add_reason(&why, &err);
    if (listening == HUB_LISTENS_NOWHERE)
        doctor_ok(doctor, TEXT_FOUND_LISTEN_NONE);
    else if (listening == HUB_LISTENS_PLAIN || listening == HUB_LISTENS_TLS)
        report_good(doctor, &listener, listening == HUB_LISTENS_TLS);
    else if (listening == HUB_TLS_KEY_OPEN)
        report_key_open(doctor, listener.key, text_string(&why));
    else
        doctor_fault(doctor, rows[listening].found, rows[listening].remedy, "message",
                     text_string(&why), "path",
                     listening == HUB_TLS_KEY_AWAY ? listener.key : listener.certificate);
    text_release(&why);
}

/* hub.c - the hub, its note and lock, store, ports, certificate and tokens. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/hub_call.h"

enum { CLOCK_APART_MS = 2000 };

static void report_schema(struct doctor *doctor, const struct hub_database *database)
{
    const struct postgres_examined *found = &database->found;
    const char *version = TEXT_NUMBER(found->version), *ours = TEXT_NUMBER(found->our_version);

    if (found->is_migrating)
        doctor_fault(doctor, TEXT_FOUND_DATABASE_MOVING, TEXT_MEND_DATABASE_MOVING, "name",
                     database->name);
    else if (found->version > found->our_version)
        doctor_fault(doctor, TEXT_FOUND_DATABASE_NEWER, TEXT_MEND_DATABASE_NEWER, "name",
                     database->name, "version", version, "ours", ours);
    else
        doctor_ok(doctor,
                  found->version == 0                   ? TEXT_FOUND_DATABASE_EMPTY
                  : found->version < found->our_version ? TEXT_FOUND_DATABASE_OLD
                                                        : TEXT_FOUND_DATABASE,
                  "name", database->name, "version", version, "ours", ours);
}

/* Schema, durability and clock of a database that can be reached; fills doctor->store. */
static void report_database(struct doctor *doctor, const struct hub_database *database)
{
    const struct postgres_examined *found = &database->found;
    int64_t apart_ms = found->ahead_ms < 0 ? -found->ahead_ms : found->ahead_ms;

    doctor->store = (struct inspection){ .outcome = INSPECT_WHOLE,
                                         .agent_tokens = found->agent_tokens,
                                         .all_tokens = found->all_tokens,
                                         .expired_tokens = found->expired_tokens };
    report_schema(doctor, database);
    if (!found->is_commit_kept)
        doctor_warning(doctor, TEXT_FOUND_DATABASE_FORGETS, TEXT_MEND_DATABASE_FORGETS, "name",
                       database->name);
    if (apart_ms > CLOCK_APART_MS)
        doctor_warning(doctor, TEXT_FOUND_DATABASE_CLOCK, TEXT_MEND_DATABASE_CLOCK, "name",
                       database->name, "seconds", TEXT_NUMBER(apart_ms / 1000));
}

enum { CONNECT_MS = 2000 };

static void report_running(struct doctor *doctor, const struct json *status)
{
    const char *version = json_member_text(status, "version");
    const char *pid = TEXT_NUMBER(json_member_integer(status, "pid", 0));

    doctor->hub_port = (int)json_member_integer(status, "port", 0);
    doctor->hub_listens = json_member_text(status, "public_url") != NULL;
    if (version && strcmp(version, SAYSO_VERSION) == 0)
        doctor_ok(doctor, TEXT_FOUND_HUB, "pid", pid, "version", version);
    else
        doctor_warning(doctor, TEXT_FOUND_HUB_VERSION, TEXT_MEND_HUB_VERSION, "pid", pid, "version",
                       version ? version : "?", "ours", SAYSO_VERSION);
}

void check_hub(struct doctor *doctor)
{
    struct rpc_message reply = { 0 };
    struct client *link = NULL;
    struct hub_record record = { 0 };
    struct error err;

    if (!os_is_locked(doctor->location.lock)) {
        doctor_ok(doctor, TEXT_FOUND_HUB_NONE);
        return;
    }
    if (hub_record_read(&doctor->location, &record, NULL) && os_is_alive(record.pid, record.start))
        doctor->record = record; /* of the process that wrote it */
    if (call_look(&link, &err) && client_call_and_wait(link, "hub/status", "{}", &reply, &err))
        report_running(doctor, reply.result);
    else
        doctor_fault(doctor, TEXT_FOUND_HUB_SILENT, TEXT_MEND_HUB_SILENT, "message", err.message,
                     "pid", TEXT_NUMBER(record.pid));
    rpc_release(&reply);
    client_free(link);
}

void check_note(struct doctor *doctor)
{
    const struct location *location = &doctor->location;
    struct hub_record record;
    bool is_there = access(location->record, F_OK) == 0, is_locked;
    bool is_readable = hub_record_read(location, &record, NULL);

    is_locked = os_is_locked(location->lock);
    if (is_locked && doctor->record.pid)
        doctor_ok(doctor, TEXT_FOUND_NOTE);
    else if (is_locked)
        doctor_fault(doctor, TEXT_FOUND_NOTE_STALE, TEXT_MEND_NOTE_STALE, "path", location->lock);
    else if (is_there && !is_readable)
        doctor_warning(doctor, TEXT_FOUND_NOTE_UNREADABLE, TEXT_MEND_NOTE_UNREADABLE, "path",
                       location->record);
    else
        doctor_ok(doctor, TEXT_FOUND_NOTE_IDLE);
}

/* What a hub put aside because it was damaged still has asks and answers in it. */
static bool find_quarantine(const struct doctor *doctor, char out[DOCTOR_PATH_BYTES])
{
    const char *name = strrchr(doctor->location.database, '/') + 1;
    DIR *folder = opendir(doctor->location.data);
    const struct dirent *entry;
    bool is_there = false;

    while (folder && !is_there && (entry = readdir(folder))) {
        is_there = strncmp(entry->d_name, name, strlen(name)) == 0 &&
                   strncmp(entry->d_name + strlen(name), ".damaged-", strlen(".damaged-")) == 0;
        if (is_there)
            snprintf(out, DOCTOR_PATH_BYTES, "%s/%.255s", doctor->location.data, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return is_there;
}

static void check_file(struct doctor *doctor)
{
    static const struct {
        enum doctor_state state;
        enum text_id found, remedy;
    } rows[] = {
        [INSPECT_WHOLE] = { DOCTOR_OK, TEXT_FOUND_STORE, DOCTOR_NO_REMEDY },
        [INSPECT_ABSENT] = { DOCTOR_OK, TEXT_FOUND_NOT_YET, DOCTOR_NO_REMEDY },
        [INSPECT_DAMAGED] = { DOCTOR_FAULT, TEXT_FOUND_STORE_DAMAGED, TEXT_MEND_STORE_DAMAGED },
        [INSPECT_NEWER] = { DOCTOR_FAULT, TEXT_FOUND_STORE_NEWER, TEXT_MEND_STORE_NEWER },
        [INSPECT_FOREIGN] = { DOCTOR_FAULT, TEXT_FOUND_STORE_FOREIGN, TEXT_MEND_STORE_FOREIGN },
        [INSPECT_IMPORTING] = { DOCTOR_FAULT, TEXT_FOUND_STORE_IMPORTING,
                                TEXT_MEND_STORE_IMPORTING },
        [INSPECT_UNREADABLE] = { DOCTOR_FAULT, TEXT_FOUND_STORE_UNREADABLE,
                                 TEXT_MEND_STORE_UNREADABLE },
    };
    const struct inspection *store = &doctor->store;
    bool is_old;
    char quarantine[DOCTOR_PATH_BYTES];

    hub_examine_store(doctor->location.database, &doctor->store);
    is_old = store->outcome == INSPECT_WHOLE && store->version < store->our_version;
    doctor_report(doctor, rows[store->outcome].state,
                  is_old ? TEXT_FOUND_STORE_OLD : rows[store->outcome].found,
                  rows[store->outcome].remedy, "path", doctor->location.database, "version",
                  TEXT_NUMBER(store->version), "ours", TEXT_NUMBER(store->our_version), "message",
                  store->message);
    if (find_quarantine(doctor, quarantine))
        doctor_warning(doctor, TEXT_FOUND_STORE_ASIDE, TEXT_MEND_STORE_ASIDE, "path", quarantine);
}

/* Connects and sends nothing: a listener that is not our hub learns nothing (C5). */
static bool answers(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd ready = { .fd = fd, .events = POLLOUT };
    bool ok;

    if (fd < 0)
        return false;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ok = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ||
         (errno == EINPROGRESS && poll(&ready, 1, CONNECT_MS) == 1 && os_socket_error(fd) == 0);
    close(fd);
    return ok;
}

void check_store(struct doctor *doctor)
{
    struct hub_database database;
    struct error err = { 0 };
    struct text why = { 0 };
    struct stat data;

    if (!doctor->has_settings)
        return; /* said elsewhere */
    switch (hub_examine_database(&doctor->location, &database, &err)) {
    case HUB_STORE_IS_FILE:
        if (stat(doctor->location.data, &data) != 0 || S_ISDIR(data.st_mode))
            check_file(doctor);
        break;
    case HUB_STORE_IS_DATABASE:
        report_database(doctor, &database);
        break;
    case HUB_STORE_IS_AWAY:
        error_write_in(&err, i18n_language(), &why);
        doctor->store.outcome = INSPECT_UNREADABLE;
        doctor_fault(doctor, TEXT_FOUND_DATABASE_AWAY, TEXT_MEND_DATABASE_AWAY, "name",
                     database.name, "message", text_string(&why));
        text_release(&why);
        break;
    }
}

void check_http(struct doctor *doctor)
{
    struct hub_record last = { 0 };
    int port = doctor->hub_port;
    int64_t owner;
    bool is_foreign;

    if (!port && !doctor->record.pid && hub_record_read(&doctor->location, &last, NULL))
        port = last.port;
    owner = port ? os_port_owner(port) : -1;
    is_foreign = owner >= 0 && owner != (int64_t)geteuid();
    if (doctor->record.pid && !doctor->hub_port)
        doctor_warning(doctor, TEXT_FOUND_HTTP_NONE, TEXT_MEND_HTTP_NONE);
    else if (!doctor->record.pid && owner < 0)
        doctor_ok(doctor, TEXT_FOUND_HTTP_IDLE);
    else if (!doctor->record.pid || is_foreign)
        doctor_report(doctor, is_foreign ? DOCTOR_FAULT : DOCTOR_WARNING, TEXT_FOUND_HTTP_TAKEN,
                      TEXT_MEND_HTTP_TAKEN, "port", TEXT_NUMBER(port), "owner", TEXT_NUMBER(owner));
    else if (!answers(port))
        doctor_fault(doctor, TEXT_FOUND_HTTP_SILENT, TEXT_MEND_HTTP_SILENT, "port",
                     TEXT_NUMBER(port));
    else
        doctor_ok(doctor, TEXT_FOUND_HTTP, "port", TEXT_NUMBER(port));
}

void check_tokens(struct doctor *doctor)
{
    const char *client = doctor_http_client();
    const struct inspection *store = &doctor->store;

    if (store->outcome != INSPECT_WHOLE && store->outcome != INSPECT_ABSENT)
        doctor_ok(doctor, TEXT_FOUND_TOKENS_UNKNOWN);
    else if (client && store->agent_tokens == 0)
        doctor_fault(doctor, TEXT_FOUND_TOKENS_NONE, TEXT_MEND_TOKENS_NONE, "client", client);
    else if (store->expired_tokens > 0)
        doctor_warning(doctor, TEXT_FOUND_TOKENS_EXPIRED, TEXT_MEND_TOKENS_EXPIRED, "count",
                       TEXT_NUMBER(store->all_tokens), "expired",
                       TEXT_NUMBER(store->expired_tokens));
    else
        doctor_ok(doctor, TEXT_FOUND_TOKENS, "count", TEXT_NUMBER(store->all_tokens));
}

enum { DATE_BYTES = 16 };
static const int64_t SOON_MS = 14LL * 86400000;

static void write_date(int64_t utc_ms, char out[DATE_BYTES])
{
    time_t when = (time_t)(utc_ms / 1000);
    struct tm parts;

    gmtime_r(&when, &parts);
    strftime(out, DATE_BYTES, "%F", &parts);
}

/* False: reported. */
static bool judge_times(struct doctor *doctor, const struct hub_listener *listener)
{
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    /* one that lives for days only is renewed later than one for a year */
    int64_t sixth_ms = (listener->to_ms - listener->from_ms) / 6;
    char from[DATE_BYTES], to[DATE_BYTES];

    write_date(listener->from_ms, from);
    write_date(listener->to_ms, to);
    if (now_ms >= listener->to_ms)
        doctor_fault(doctor, TEXT_FOUND_LISTEN_ENDED, TEXT_MEND_LISTEN_RENEW, "path",
                     listener->certificate, "date", to);
    else if (now_ms < listener->from_ms)
        doctor_fault(doctor, TEXT_FOUND_LISTEN_EARLY, TEXT_MEND_LISTEN_EARLY, "path",
                     listener->certificate, "date", from);
    else if (listener->to_ms - now_ms < (sixth_ms < SOON_MS ? sixth_ms : SOON_MS))
        doctor_warning(doctor, TEXT_FOUND_LISTEN_ENDS, TEXT_MEND_LISTEN_RENEW, "path",
                       listener->certificate, "date", to);
    else
        return true;
    return false;
}

/* What can only be seen by whether a hub runs. False: reported. */
static bool judge_port(struct doctor *doctor, const struct hub_listener *listener)
{
    int64_t owner = listener->port && !doctor->record.pid ? os_port_owner(listener->port) : -1;

    if (owner >= 0)
        doctor_fault(doctor, TEXT_FOUND_LISTEN_TAKEN, TEXT_MEND_LISTEN_TAKEN, "port",
                     TEXT_NUMBER(listener->port), "owner", TEXT_NUMBER(owner));
    else if (doctor->record.pid && !doctor->hub_listens)
        doctor_warning(doctor, TEXT_FOUND_LISTEN_NOT, TEXT_MEND_LISTEN_NOT, "where",
                       listener->where, "log", doctor->location.log);
    else
        return true;
    return false;
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
    char to[DATE_BYTES];
    struct stat key;
    bool has_tls, is_own;

    if (!doctor->has_settings)
        return; /* said elsewhere */
    listening = hub_examine_listener(&doctor->location, &listener, &err);
    error_write_in(&err, i18n_language(), &why);
    has_tls = listening == HUB_LISTENS_TLS;
    if (listening == HUB_LISTENS_NOWHERE) {
        doctor_ok(doctor, TEXT_FOUND_LISTEN_NONE);
    } else if (listening == HUB_LISTENS_PLAIN || has_tls) {
        write_date(has_tls ? listener.to_ms : 0, to);
        if ((!has_tls || judge_times(doctor, &listener)) && judge_port(doctor, &listener))
            doctor_ok(doctor, has_tls ? TEXT_FOUND_LISTEN_TLS : TEXT_FOUND_LISTEN_PLAIN, "where",
                      listener.where, "path", listener.certificate, "date", to);
    } else if (listening == HUB_TLS_KEY_OPEN) {
        is_own = stat(listener.key, &key) == 0 && S_ISREG(key.st_mode) && key.st_mode & 077;
        doctor_fault(doctor, TEXT_FOUND_LISTEN_BAD,
                     is_own ? TEXT_MEND_FILE_MODE : TEXT_MEND_LISTEN_KEY, "message",
                     text_string(&why), "path", listener.key);
    } else {
        doctor_fault(doctor, rows[listening].found, rows[listening].remedy, "message",
                     text_string(&why), "path",
                     listening == HUB_TLS_KEY_AWAY ? listener.key : listener.certificate);
    }
    text_release(&why);
}

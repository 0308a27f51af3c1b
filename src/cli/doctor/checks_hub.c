/* checks_hub.c - the hub that runs or does not, its note and lock, store, port and tokens. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "cli/call.h"
#include "cli/doctor/doctor.h"

enum { CONNECT_MS = 2000 };

/* The process the note names is there and is the one that wrote it. */
static bool is_alive(const struct place_note *note)
{
    struct os_process process;

    return os_process(note->pid, &process) && process.start == note->start;
}

static void report_running(struct doctor *doctor, const struct json *status)
{
    const char *version = json_member_text(status, "version");
    const char *pid = say_number(json_member_integer(status, "pid", 0));

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
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    struct place_note note = { 0 };
    struct error err;

    if (!doctor->has_place)
        return;
    if (!os_is_locked(doctor->place.lock)) {
        doctor_ok(doctor, TEXT_FOUND_HUB_NONE);
        return;
    }
    if (place_read_note(&doctor->place, &note, NULL) && is_alive(&note))
        doctor->note = note;
    if (link_open(&call_person, LINK_MUST_RUN, &link, &err) &&
        link_call(link, "hub/status", "{}", &reply, &err)) {
        report_running(doctor, reply.result);
    } else {
        doctor_fault(doctor, TEXT_FOUND_HUB_SILENT, TEXT_MEND_HUB_SILENT, "message", err.message,
                     "pid", say_number(note.pid));
    }
    wire_release(&reply);
    link_close(link);
}

void check_note(struct doctor *doctor)
{
    struct place_note note;
    bool is_there, is_readable;

    if (!doctor->has_place)
        return;
    is_there = access(doctor->place.note, F_OK) == 0;
    is_readable = place_read_note(&doctor->place, &note, NULL);
    if (os_is_locked(doctor->place.lock)) {
        if (doctor->note.pid)
            doctor_ok(doctor, TEXT_FOUND_NOTE);
        else
            doctor_fault(doctor, TEXT_FOUND_NOTE_STALE, TEXT_MEND_NOTE_STALE, "path",
                         doctor->place.lock);
    } else if (is_there && !is_readable) {
        doctor_warning(doctor, TEXT_FOUND_NOTE_UNREADABLE, TEXT_MEND_NOTE_UNREADABLE, "path",
                       doctor->place.note);
    } else {
        doctor_ok(doctor, TEXT_FOUND_NOTE_IDLE);
    }
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
    enum text_id found;
    char aside[DOCTOR_PATH_BYTES];

    hub_examine_store(doctor->place.database, &doctor->store);
    found = rows[store->outcome].found;
    if (store->outcome == INSPECT_WHOLE && store->version < store->our_version)
        found = TEXT_FOUND_STORE_OLD;
    doctor_report(doctor, rows[store->outcome].state, found, rows[store->outcome].remedy, "path",
                  doctor->place.database, "version", say_number(store->version), "ours",
                  say_number(store->our_version), "message", store->message);
    if (doctor_find_aside(doctor, aside))
        doctor_warning(doctor, TEXT_FOUND_STORE_ASIDE, TEXT_MEND_STORE_ASIDE, "path", aside);
}

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

/* Nobody is sent anything here: who is not a hub of ours learns nothing (C5). */
void check_store(struct doctor *doctor)
{
    struct hub_database database;
    struct error err = { 0 };
    struct stat data;

    doctor->store.outcome = INSPECT_ABSENT;
    if (!doctor->has_place || !doctor->has_settings)
        return; /* said elsewhere */
    switch (hub_examine_database(&doctor->place, &database, &err)) {
    case HUB_STORE_IS_FILE:
        if (stat(doctor->place.data, &data) != 0 || S_ISDIR(data.st_mode))
            check_file(doctor);
        break;
    case HUB_STORE_IS_DATABASE:
        doctor_report_database(doctor, &database);
        break;
    case HUB_STORE_IS_AWAY:
        doctor_report_away(doctor, &database, &err);
        break;
    }
}

void check_http(struct doctor *doctor)
{
    struct place_note last = { 0 };
    int port = doctor->hub_port;
    int64_t owner;
    bool is_foreign;

    if (!doctor->has_place)
        return;
    if (!port && !doctor->note.pid && place_read_note(&doctor->place, &last, NULL))
        port = last.port;
    owner = port ? os_port_owner(port) : -1;
    is_foreign = owner >= 0 && owner != (int64_t)geteuid();
    if (doctor->note.pid && !doctor->hub_port)
        doctor_warning(doctor, TEXT_FOUND_HTTP_NONE, TEXT_MEND_HTTP_NONE);
    else if (!doctor->note.pid && owner < 0)
        doctor_ok(doctor, TEXT_FOUND_HTTP_IDLE);
    else if (!doctor->note.pid || is_foreign)
        doctor_report(doctor, is_foreign ? DOCTOR_FAULT : DOCTOR_WARNING, TEXT_FOUND_HTTP_TAKEN,
                      TEXT_MEND_HTTP_TAKEN, "port", say_number(port), "owner", say_number(owner));
    else if (!answers(port))
        doctor_fault(doctor, TEXT_FOUND_HTTP_SILENT, TEXT_MEND_HTTP_SILENT, "port",
                     say_number(port));
    else
        doctor_ok(doctor, TEXT_FOUND_HTTP, "port", say_number(port));
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
                       say_number(store->all_tokens), "expired", say_number(store->expired_tokens));
    else
        doctor_ok(doctor, TEXT_FOUND_TOKENS, "count", say_number(store->all_tokens));
}

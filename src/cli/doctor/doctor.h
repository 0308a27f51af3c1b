/*
 * doctor.h - what the checks of `sayso doctor` share. A check is a row in doctor.c and a function
 * that reports one or more findings. It looks; it starts, makes and changes nothing.
 */
#ifndef CLI_DOCTOR_DOCTOR_H
#define CLI_DOCTOR_DOCTOR_H
#include <stdbool.h>

#include "cli/say.h"
#include "hub/maintenance.h"
#include "rpc/location.h"

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_FAULT };
struct doctor {
    bool is_json;
    struct json_writer *writer; /* with --json */
    const char *check;          /* the name of the one that runs */
    enum text_id label;
    unsigned counts[3]; /* findings by state */

    struct location location;
    bool has_location;
    bool has_settings; /* that can be read */
    struct inspection store;
    struct hub_record record; /* of the hub that runs; pid 0: none does */
    int hub_port;             /* that the hub says it has; 0: none */
    bool hub_listens;         /* to other machines */
};

#define DOCTOR_NO_REMEDY TEXT_COUNT
/* One finding: what was found, its remedy, and at most four pairs of name and value for both. */
#define doctor_ok(doctor, ...)      doctor_report_ok((doctor), __VA_ARGS__, NULL)
#define doctor_warning(doctor, ...) doctor_report((doctor), DOCTOR_WARNING, __VA_ARGS__)
#define doctor_fault(doctor, ...)   doctor_report((doctor), DOCTOR_FAULT, __VA_ARGS__)
#define doctor_report(doctor, ...)  doctor_report_state((doctor), __VA_ARGS__, NULL)
void doctor_report_ok(struct doctor *doctor, enum text_id found, ...);
void doctor_report_state(struct doctor *doctor, enum doctor_state state, enum text_id found,
                         enum text_id remedy, ...);

/* Findings so far that are not fine. */
static inline unsigned doctor_troubles(const struct doctor *doctor)
{
    return doctor->counts[DOCTOR_WARNING] + doctor->counts[DOCTOR_FAULT];
}

typedef void doctor_check(struct doctor *doctor);
doctor_check check_program, check_installed, check_sandbox, check_data, check_files, check_socket,
    check_disk, check_settings, check_channels, check_clock, check_screen,
    check_service; /* machine.c */
doctor_check check_hub, check_note, check_store, check_http, check_listen, check_tokens; /* hub.c */
doctor_check check_clients, check_hooks; /* clients.c, machine.c */

enum { DOCTOR_PATH_BYTES = LOCATION_PATH_BYTES + 512 };
bool doctor_find_program(const char *name, char out[DOCTOR_PATH_BYTES]); /* first in PATH */
/* The first client whose entry of ours goes over HTTP with a token; NULL: none. */
const char *doctor_http_client(void);

#endif

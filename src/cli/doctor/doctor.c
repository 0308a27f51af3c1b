/* doctor.c - `sayso doctor`: see doctor.h. To add a check: a row here, its texts in i18n. */
#include "cli/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "cli/hub_call.h"
#include "cli/say.h"

/* In this order: later ones use what earlier ones found. */
static const struct {
    const char *name;
    enum text_id label;
    doctor_check *run;
    bool needs_location;
} checks[] = {
    { "program", TEXT_CHECK_PROGRAM, check_program, false },
    { "installed", TEXT_CHECK_INSTALLED, check_installed, false },
    { "sandbox", TEXT_CHECK_SANDBOX, check_sandbox, false },
    { "data_directory", TEXT_CHECK_DATA, check_data, false },
    { "files", TEXT_CHECK_FILES, check_files, true },
    { "socket", TEXT_CHECK_SOCKET, check_socket, true },
    { "hub", TEXT_CHECK_HUB, check_hub, true },
    { "lock", TEXT_CHECK_NOTE, check_note, true },
    { "store", TEXT_CHECK_STORE, check_store, true },
    { "disk", TEXT_CHECK_DISK, check_disk, true },
    { "settings", TEXT_CHECK_SETTINGS, check_settings, false },
    { "channels", TEXT_CHECK_CHANNELS, check_channels, false },
    { "http", TEXT_CHECK_HTTP, check_http, true },
    { "listen", TEXT_CHECK_LISTEN, check_listen, true },
    { "tokens", TEXT_CHECK_TOKENS, check_tokens, false },
    { "clients", TEXT_CHECK_CLIENTS, check_clients, false },
    { "hooks", TEXT_CHECK_HOOKS, check_hooks, false },
    { "service", TEXT_CHECK_SERVICE, check_service, false },
    { "clock", TEXT_CHECK_CLOCK, check_clock, false },
    { "screen", TEXT_CHECK_SCREEN, check_screen, false },
};

static const char *const state_names[] = { "ok", "warning", "fault" };
static const enum text_id state_texts[] = { TEXT_DOCTOR_OK, TEXT_DOCTOR_WARNING,
                                            TEXT_DOCTOR_FAULT };

/* Both texts, of the same pairs; counted. */
static void report(struct doctor *doctor, enum doctor_state state, enum text_id found,
                   enum text_id remedy, va_list pairs)
{
    struct text words = { 0 }, help = { 0 };
    va_list again;

    va_copy(again, pairs);
    say_add_sentence(&words, found, pairs);
    if (remedy != DOCTOR_NO_REMEDY)
        say_add_sentence(&help, remedy, again);
    va_end(again);
    doctor->counts[state]++;
    if (doctor->is_json) {
        json_write_object(doctor->writer, NULL);
        json_write_text(doctor->writer, "check", doctor->check);
        json_write_text(doctor->writer, "state", state_names[state]);
        json_write_text(doctor->writer, "found", text_string(&words));
        json_write_text(doctor->writer, "remedy", help.used ? text_string(&help) : NULL);
        json_write_end_object(doctor->writer);
    } else {
        printf("[%s] %s: %s\n", i18n_text(state_texts[state]), i18n_text(doctor->label),
               text_string(&words));
        if (help.used)
            printf("    %s\n", text_string(&help));
    }
    text_release(&words);
    text_release(&help);
}

void doctor_report_ok(struct doctor *doctor, enum text_id found, ...)
{
    va_list pairs;

    va_start(pairs, found);
    report(doctor, DOCTOR_OK, found, DOCTOR_NO_REMEDY, pairs);
    va_end(pairs);
}

void doctor_report_state(struct doctor *doctor, enum doctor_state state, enum text_id found,
                         enum text_id remedy, ...)
{
    va_list pairs;

    va_start(pairs, remedy);
    report(doctor, state, found, remedy, pairs);
    va_end(pairs);
}

static enum exit_code run_doctor(const struct arguments *arguments)
{
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    struct doctor doctor = { .is_json = arguments->is_json,
                             .writer = &writer,
                             .has_settings = !arguments->problem,
                             .store = { .outcome = INSPECT_ABSENT } };

    doctor.has_location = location_find(&doctor.location, NULL);
    if (doctor.is_json) {
        i18n_use(LANGUAGE_EN); /* what scripts read */
        json_write_object(&writer, NULL);
        json_write_list(&writer, "findings");
    } else {
        call_speak_as_saved();
    }
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        doctor.check = checks[i].name;
        doctor.label = checks[i].label;
        if (doctor.has_location || !checks[i].needs_location)
            checks[i].run(&doctor);
    }
    if (doctor.is_json) {
        json_write_end_list(&writer);
        json_write_integer(&writer, "faults", doctor.counts[DOCTOR_FAULT]);
        json_write_integer(&writer, "warnings", doctor.counts[DOCTOR_WARNING]);
        say_object(&writer);
    } else if (doctor_troubles(&doctor) == 0) {
        say_result(TEXT_DOCTOR_WELL);
    } else {
        say_result(TEXT_DOCTOR_UNWELL, "faults", TEXT_NUMBER(doctor.counts[DOCTOR_FAULT]),
                   "warnings", TEXT_NUMBER(doctor.counts[DOCTOR_WARNING]));
    }
    return doctor.counts[DOCTOR_FAULT] ? EXIT_ERROR : EXIT_DONE;
}

static const char *const usage[] = { "doctor [--json]", NULL };
static const char *const examples[] = { "doctor", "doctor --json", NULL };
VERB_ROW(doctor, TEXT_CLI_DOCTOR, VERB_TEXTS, .runs_without_settings = true);

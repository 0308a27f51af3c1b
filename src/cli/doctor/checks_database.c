/* checks_database.c - the store, where it is a database that hubs share. */
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"

enum { CLOCK_APART_MS = 2000 };

static void report_schema(struct doctor *doctor, const struct hub_database *database)
{
    const struct postgres_examined *found = &database->found;
    const char *version = say_number(found->version), *ours = say_number(found->our_version);

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

void doctor_report_database(struct doctor *doctor, const struct hub_database *database)
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
                       database->name, "seconds", say_number(apart_ms / 1000));
}

void doctor_report_away(struct doctor *doctor, const struct hub_database *database,
                        const struct error *err)
{
    struct text why = { 0 };

    say_add_reason(&why, err);
    doctor->store.outcome = INSPECT_UNREADABLE;
    doctor_fault(doctor, TEXT_FOUND_DATABASE_AWAY, TEXT_MEND_DATABASE_AWAY, "name", database->name,
                 "message", text_string(&why));
    text_release(&why);
}

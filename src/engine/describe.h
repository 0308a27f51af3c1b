/* describe.h - asks and results as JSON, and who is told of changes. */
#ifndef ENGINE_DESCRIBE_H
#define ENGINE_DESCRIBE_H
#include "core/response.h"
#include "engine/state.h"

/* describe.c: JSON of asks */
/* -1: none */
int64_t describe_remaining_s(const struct engine *engine, const struct active_ask *active);
void describe_summary(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer, const char *key);
/* "2026-11-15T12:00:00.000Z"; null, or nothing at all, for a time that is 0. */
void describe_time(struct json_writer *writer, const char *key, int64_t utc_ms);
void describe_time_if(struct json_writer *writer, const char *key, int64_t utc_ms);
const char *describe_agent(const struct json *origin); /* as it calls itself; NULL: nameless */
/* `shown` of what an agent wrote, where that is not what may be shown. */
void describe_shown(const char *title, const char *agent, const char *directory,
                    struct json_writer *writer);
/* The members alone, for an object that has more of them. */
void describe_members(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer);
void describe_active(const struct engine *engine, const struct active_ask *active,
                     struct json_writer *writer, const char *key);
/* A decision as it was just made, so that its own texts need not be read back. Borrowed. */
struct known {
    const struct answer *answer; /* NULL: cancelled or declined */
    const char *cancel_note;
    bool hides_placeholder;
    struct answered_by by;
    const struct form *form; /* as it was read to check the answer; NULL: it was not */
};
/* The agent's result (R2.2) for a row, as a reply that borrows from it and from `out`, which gets
 * one JSON object. `form` and `known` may be NULL: then the row's own texts are read. */
struct reply describe_result(const struct engine *engine, const struct store_row *row,
                             const struct form *form, const struct known *known, bool is_replayed,
                             struct text *out);
/* That it is open; how a terminal gets it (`command` is ours alone), or what is asked back. */
struct reply describe_open(const struct engine *engine, const struct store_row *row,
                           const char *command, const char *asked_back, struct text *out);
/* Ends the operation of one who came too late, with how the ask ended and by whom. */
void operation_fail_won(struct operation *operation, const struct error *err,
                        const struct store_row *row);

/* effects.c: what watchers are told */
/* Room for a line that is written and sent immediately; given back, its memory is used again. */
struct text line_take(struct engine *engine);
void line_give(struct engine *engine, struct text *take_line);
void publish(struct engine *engine, struct active_ask *active);
void publish_dirty(struct engine *engine); /* all that changed, the newest first */

/* engine/people/list.c: what an agent sees of its own asks */
void own_asks_publish(struct engine *engine, struct active_ask *active);
void own_asks_publish_over(struct engine *engine, const struct active_ask *active);

#endif

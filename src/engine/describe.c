/* describe.c - asks as JSON: the line in a list, the result for the agent, who won. */
#include "engine/describe.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/answer.h"
#include "core/response.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"
#include "engine/delivery/delivery.h"
#include "engine/state.h"

/* One that has begun counts; what is over is 0. */
static int64_t seconds_of(int64_t left_ms)
{
    return left_ms > 0 ? (left_ms + 999) / 1000 : 0;
}

int64_t describe_remaining_s(const struct engine *engine, const struct active_ask *active)
{
    if (!active || !state_is_open(active->state))
        return -1;
    if (!active->deadline.place) /* its time is up and the end of it is on its way to the store */
        return active->is_deciding ? 0 : -1;
    return seconds_of(active->deadline.boot_ms - engine_boot_ms(engine));
}

/* How long others stay silent yet, because the agent's own client shows it (R2.6). */
static int64_t quiet_s(const struct engine *engine, const struct active_ask *active)
{
    if (!active || !state_is_open(active->state) || !client_shows(active))
        return 0;
    return seconds_of(active_rare(active)->quiet_until_boot_ms - engine_boot_ms(engine));
}

void describe_time(struct json_writer *writer, const char *key, int64_t utc_ms)
{
    if (utc_ms > 0)
        describe_time_if(writer, key, utc_ms);
    else
        json_write_null(writer, key);
}

void describe_time_if(struct json_writer *writer, const char *key, int64_t utc_ms)
{
    char when[32];

    if (utc_ms <= 0)
        return;
    response_write_time(utc_ms, when);
    json_write_text(writer, key, when);
}

const char *describe_agent(const struct json *origin)
{
    const char *name = json_member_text(origin, "as");

    return name ? name : json_member_text(origin, "name");
}

/* Most texts are shown as they are; then there is nothing to say. */
static bool is_plain(const char *text)
{
    for (; text && *text; text++) {
        if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f || *text == '\\')
            return false;
    }
    return true;
}

static void write_visible(struct json_writer *writer, const char *key, const char *text)
{
    struct text out = { 0 };

    if (!text)
        return;
    visible_text(text, strlen(text), VISIBLE_ONE_LINE, &out);
    json_write_text_n(writer, key, text_string(&out), out.used);
    text_release(&out);
}

static void write_shown(const char *title, const char *agent, const char *directory,
                        const char *token, struct json_writer *writer)
{
    json_write_object(writer, "shown");
    write_visible(writer, "title", title);
    write_visible(writer, "agent", agent);
    write_visible(writer, "directory", directory);
    write_visible(writer, "token", token);
    json_write_end_object(writer);
}

void describe_shown(const char *title, const char *agent, const char *directory,
                    struct json_writer *writer)
{
    if (is_plain(title) && is_plain(agent) && is_plain(directory))
        return;
    write_shown(title, agent, directory, NULL, writer);
}

/* What an agent wrote, as a person may see it. */
static void show_ask(const struct ask *ask, const char *agent, struct json_writer *writer)
{
    struct json *origin;

    if (is_plain(ask->title) && is_plain(agent) && is_plain(ask->origin_json))
        return;
    origin = json_of(ask->origin_json);
    write_shown(ask->title, agent, json_member_text(origin, "directory"),
                json_member_text(origin, "token"), writer);
    json_free(origin);
}

/* How long a decision can still be taken back. */
static int64_t undo_ms(const struct engine *engine, const struct active_ask *active)
{
    return active && !state_is_open(active->state) && active->deadline.place
               ? active->deadline.boot_ms - engine_boot_ms(engine)
               : 0;
}

/* A row is read a moment before we hear that it was stored, or after we knew that it has ended:
 * then it alone says until when. */
static int64_t remaining_s(const struct engine *engine, const struct ask *ask,
                           const struct active_ask *active)
{
    int64_t left_s = describe_remaining_s(engine, active);

    return left_s >= 0 || ask->deadline_ms == 0
               ? left_s
               : seconds_of(ask->deadline_ms - engine_utc_ms(engine));
}

/* Stores say "" where no one did it: time ran out and defaults were sent. */
static const char *actor_of(const struct store_row *row)
{
    return row->actor_json && *row->actor_json ? row->actor_json : "null";
}

static void write_members(const struct engine *engine, const struct store_row *row,
                          const char *agent, struct json_writer *writer)
{
    const struct ask *ask = &row->ask;
    const struct active_ask *active = active_find(engine, ask->id);
    bool is_open = state_is_open(ask->state);
    bool is_detached = is_open && (ask->flags & ASK_DETACHED);
    int64_t undo_left_ms = undo_ms(engine, active);
    int64_t left_s = remaining_s(engine, ask, active), silent_s = quiet_s(engine, active);
    int64_t snooze_ms = snooze_until_ms(engine, ask->id);

    json_write_text(writer, "session_id", ask->id);
    json_write_text(writer, "title", ask->title);
    json_write_text(writer, "status", state_name(ask->state));
    json_write_text(writer, "interface", interface_name(ask->interface));
    json_write_text(writer, "agent", agent);
    describe_time(writer, "created_at", ask->created_ms);
    json_write_known(writer, "remaining_seconds", left_s, is_open && left_s >= 0);
    json_write_integer(writer, "version", ask->version);
    json_write_bool(writer, "detached", is_detached);
    if (is_detached && active)
        describe_time_if(writer, "detached_at", active->detached_ms);
    json_write_bool(writer, "destructive", ask->flags & ASK_DESTRUCTIVE);
    json_write_bool_if(writer, "asked_back", is_open && (ask->flags & ASK_ASKED_BACK));
    json_write_bool_if(writer, "told", ask->flags & ASK_TOLD);
    json_write_bool_if(writer, "heard", ask->flags & ASK_HEARD);
    describe_time(writer, "decided_at", ask->decided_ms);
    if (ask->hold_used_ms > 0)
        json_write_integer(writer, "held_seconds", ask->hold_used_ms / 1000);
    if (silent_s > 0)
        json_write_integer(writer, "quiet_seconds", silent_s);
    if (is_open)
        describe_time_if(writer, "later_until", snooze_ms);
    if (undo_left_ms > 0)
        json_write_integer(writer, "undo_ms", undo_left_ms);
    show_ask(ask, agent, writer);
    json_write_raw(writer, "origin", ask->origin_json ? ask->origin_json : "null");
    json_write_raw(writer, "answered_by", actor_of(row));
}

void describe_members(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer)
{
    struct json *origin = json_of(row->ask.origin_json);
    struct store_row shown = *row;
    const struct active_ask *active = active_find(engine, row->ask.id);

    if (active) { /* memory knows better who waits and who types right now */
        shown.ask.flags = active->flags;
        shown.ask.hold_used_ms = active_rare(active)->hold_used_ms;
    }
    write_members(engine, &shown, describe_agent(origin), writer);
    json_free(origin);
}

void describe_summary(const struct engine *engine, const struct store_row *row,
                      struct json_writer *writer, const char *key)
{
    json_write_object(writer, key);
    describe_members(engine, row, writer);
    json_write_end_object(writer);
}

void describe_active(const struct engine *engine, const struct active_ask *active,
                     struct json_writer *writer, const char *key)
{
    struct store_row row = active_row(active);

    json_write_object(writer, key);
    write_members(engine, &row, active->origin->agent, writer);
    json_write_end_object(writer);
}

enum { WARNINGS_MAX = 4 };

static size_t list_warnings(uint32_t flags, const char **out)
{
    static const struct {
        uint32_t flag;
        const char *warning;
    } rows[] = {
        { ASK_DEFAULTS_IGNORED, "defaults_ignored" },
        { ASK_CANCEL_ALWAYS, "cancel_always_available" },
        { ASK_INTERFACE_UNAVAILABLE, "interface_unavailable" },
    };
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (flags & rows[i].flag)
            out[count++] = rows[i].warning;
    }
    out[count] = NULL;
    return count;
}

/* What a row keeps as texts, read back for as long as the result is written. */
struct readings {
    struct form form;
    struct answer answer;
    struct json *answer_json, *actor_json;
};

static void read_row(const struct store_row *row, struct readings *readings,
                     struct response_facts *facts)
{
    const char *form = row->ask.form_json;
    const struct json *actor, *visible;

    readings->actor_json = json_of(row->actor_json);
    readings->answer_json = json_of(row->answer_json);
    if (!facts->form && form && form_parse(form, strlen(form), &readings->form, NULL))
        facts->form = &readings->form;
    actor = readings->actor_json;
    if (actor)
        facts->by = (struct answered_by){
            .person = json_member_text(actor, "person"),
            .via = json_member_text(actor, "via"),
            .uid = json_member_integer(actor, "uid", -1),
            .pid = json_member_integer(actor, "pid", 0),
            .tty = json_member_text(actor, "tty"),
            .token = json_member_text(actor, "token"),
            .same_process_tree = json_is_true(json_member(actor, "same_process_tree")),
        };
    facts->rule = json_member_text(actor, "rule");
    if (!readings->answer_json)
        return;
    visible = json_member(readings->answer_json, "placeholder_visible");
    facts->hides_placeholder = json_kind(visible) == KIND_BOOL && !json_is_true(visible);
    if (row->ask.state == STATE_CANCELLED || row->ask.state == STATE_DECLINED)
        facts->cancel_note = json_member_text(readings->answer_json, "global_annotation");
    else if (facts->form &&
             answer_check(facts->form, readings->answer_json, &readings->answer, NULL))
        facts->answer = &readings->answer;
}

/* Borrows from the row and from `ret_warnings`. */
static struct response_facts facts_of(const struct store_row *row, const char **ret_warnings)
{
    const struct ask_tool *tool = row->ask.tool ? ask_tool_find(row->ask.tool) : NULL;

    return (struct response_facts){
        .shape = tool ? tool->response : NULL,
        .session_id = row->ask.id,
        .state = row->ask.state,
        .interface = row->ask.interface,
        .warnings = list_warnings(row->ask.flags, ret_warnings) > 0 ? ret_warnings : NULL,
    };
}

/* With where a browser finds it, if that is of use. */
static struct reply write_reply(const struct engine *engine, struct response_facts *facts,
                                bool has_url, struct text *out)
{
    struct reply reply = { .session_id = facts->session_id };
    struct text url = { 0 };

    if (has_url && portal_write_url(engine, facts->session_id, &url))
        facts->url = text_string(&url);
    reply.kind = response_write(facts, out);
    reply.json = text_string(out);
    text_release(&url);
    return reply;
}

struct reply describe_result(const struct engine *engine, const struct store_row *row,
                             const struct form *form, const struct known *known, bool is_replayed,
                             struct text *out)
{
    const char *warnings[WARNINGS_MAX];
    struct response_facts facts = facts_of(row, warnings);
    struct readings readings = { 0 };
    struct reply reply;

    facts.form = form;
    facts.answered_ms = row->answered_ms ? row->answered_ms : row->ask.decided_ms;
    facts.is_replayed = is_replayed;
    if (known) {
        facts.answer = known->answer;
        facts.cancel_note = known->cancel_note;
        facts.hides_placeholder = known->hides_placeholder;
        facts.by = known->by;
    } else {
        read_row(row, &readings, &facts);
    }
    reply = write_reply(engine, &facts, state_is_open(row->ask.state), out);
    answer_release(&readings.answer);
    form_release(&readings.form);
    json_free(readings.answer_json);
    json_free(readings.actor_json);
    return reply;
}

struct reply describe_open(const struct engine *engine, const struct store_row *row,
                           const char *command, const char *asked_back, struct text *out)
{
    const char *warnings[WARNINGS_MAX];
    struct response_facts facts = facts_of(row, warnings);

    facts.terminal_command = command;
    facts.asked_back = asked_back;
    return write_reply(engine, &facts, true, out);
}

void operation_fail_won(struct operation *operation, const struct error *err,
                        const struct store_row *row)
{
    struct text winner = { 0 };
    struct json_writer writer = json_object_to(&winner);

    json_write_text(&writer, "session_id", row->ask.id);
    json_write_text(&writer, "status", state_name(row->ask.state));
    json_write_integer(&writer, "version", row->ask.version);
    describe_time(&writer, "answered_at",
                  row->answered_ms ? row->answered_ms : row->ask.decided_ms);
    json_write_raw(&writer, "answered_by", actor_of(row));
    json_write_end_object(&writer);
    operation_fail(operation, err, text_string(&winner));
    text_release(&winner);
}

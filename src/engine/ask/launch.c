/*
 * launch.c - an ask handed to a terminal (R6.2): the agent gets a command with a code that opens it
 * once. Only the code's hash is kept. The terminal that opens it brings a key of its own, and what
 * is kept then is the hash of both: that terminal may ask again, if the reply was lost with a hub,
 * and no other can. A fresh command replaces the hash, so the code before is worth nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crash_point.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"
#include "engine/ask/submit.h"
#include "engine/delivery/delivery.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

enum { LAUNCH_KEY_BYTES = 64 };

struct launch {
    struct table_link link;
    uint8_t hash[DIGEST_BYTES];
    struct active_ask *active;
};

/* `key` NULL: the code was not used yet. */
static void hash_code(const char *code, const char *key, uint8_t out[DIGEST_BYTES])
{
    const struct hash_part parts[] = {
        { key ? "opened" : "launch", 6 },
        { code, strlen(code) },
        { key, key ? strlen(key) : 0 },
    };

    hash_parts(parts, ARRAY_LEN(parts), out);
}

void launch_init(struct engine *engine)
{
    engine->by_launch = TABLE_OF(launch, link, hash);
}

struct launch_code launch_make(void)
{
    struct launch_code code = { 0 };

    random_id(code.text);
    hash_code(code.text, NULL, code.hash);
    return code;
}

void launch_keep(struct engine *engine, struct active_ask *active, const uint8_t hash[DIGEST_BYTES])
{
    static const uint8_t none[DIGEST_BYTES];
    struct launch *launch = active_rare(active)->launch;

    if (launch)
        table_remove(&engine->by_launch, &launch->link);
    if (memcmp(hash, none, sizeof none) == 0) {
        free(launch);
        if (active->rare)
            active->rare->launch = NULL;
        return;
    }
    if (!launch)
        launch = active_need_rare(active)->launch = mem_new(sizeof *launch);
    launch->active = active;
    memcpy(launch->hash, hash, sizeof launch->hash);
    table_insert(&engine->by_launch, &launch->link);
}

static struct active_ask *find(const struct engine *engine, const uint8_t hash[DIGEST_BYTES])
{
    struct table_link *link = table_find(&engine->by_launch, hash);

    return link ? TABLE_THING(launch, link, link)->active : NULL;
}

bool launch_is_usable(const struct engine *engine)
{
    return engine->parts.terminal_built && settings_is_on(engine->parts.settings, SETTING_TERMINAL);
}

/* It names its hub, since a terminal's environment may lead to another one, and its ask, so that a
 * hub that does not have it can say so. On another machine our program has a place of its own. */
static void write_command(const struct engine *engine, const struct session *session,
                          const struct active_ask *active, const char *code, struct text *out)
{
    bool is_remote = session->uid < 0;
    const char *socket = engine->parts.socket;
    const char *place = is_remote ? engine->public_url : socket ? socket : "";
    struct text hub = { 0 };

    text_add_shell_word(out, is_remote || !engine->parts.program ? "sayso" : engine->parts.program);
    text_add_format(out, " attach %s", active->id);
    if (*place) {
        text_add_format(&hub, "%s%s", is_remote ? "" : "unix:", place);
        text_add_text(out, " --hub ");
        text_add_shell_word(out, text_string(&hub));
    }
    text_add_format(out, " --launch %s", code);
    text_release(&hub);
}

void launch_reply(struct method_call call, const struct active_ask *active,
                  const struct launch_code *code)
{
    struct text command = { 0 }, result = { 0 };
    struct store_row row = active_row(active);
    struct reply reply;

    write_command(call.engine, call.session, active, code->text, &command);
    reply = describe_open(call.engine, &row, text_string(&command), NULL, &result);
    notices_reply(call, &reply);
    text_release(&command);
    text_release(&result);
}

/* A change of who may open an ask, on its way to the store. */
struct opening {
    struct operation operation; /* first */
    struct lifecycle_step step;
    struct store_change change;
    struct launch_code fresh; /* of a renewal */
};

static const struct lifecycle_facts nothing;

/* What is to be set besides is set before it is saved. */
static struct store_change *begin_change(struct opening *opening, const struct active_ask *active,
                                         enum ask_event event, const struct lifecycle_facts *facts)
{
    opening->step = lifecycle_next(active->state, event, facts);
    opening->change = effects_change(opening->operation.engine, opening->operation.id, event,
                                     &opening->step, facts);
    return &opening->change;
}

static void save(struct opening *opening, store_done *done)
{
    operation_begin_write(&opening->operation);
    CRASH_POINT(engine_before_launch);
    store_write_change(opening->operation.engine->parts.store, &opening->change, done, opening);
}

/* What the store has now is what memory knows from now on. */
static void take_over(struct opening *opening, struct active_ask *active,
                      const struct store_reply *reply)
{
    CRASH_POINT(engine_after_launch);
    active->seq = reply->seq;
    launch_keep(opening->operation.engine, active, opening->change.launch_hash);
    effects_run(opening->operation.engine, active, &opening->step, &opening->change, NULL, NULL);
}

static void on_renewed(void *context, const struct store_reply *reply)
{
    struct opening *opening = context;
    struct operation *operation = &opening->operation;
    struct active_ask *active = active_find(operation->engine, operation->id);

    if (reply->outcome == STORE_DONE && active) {
        take_over(opening, active, reply);
        launch_reply(operation_call(operation), active, &opening->fresh);
        operation_end(operation);
    } else if (reply->outcome == STORE_LOST && !active) {
        /* decided in the meantime: the caller wants that result */
        wait_reply_row(operation, reply->row, false);
        operation_end(operation);
    } else if (reply->outcome == STORE_FAILED) {
        operation_fail(operation, &reply->err, NULL);
    } else {
        operation_refuse(operation, ERROR_wrong_state, "/session_id",
                         "this ask was just decided: collect it with its session_id alone");
    }
}

void launch_renew(struct method_call call, struct active_ask *active)
{
    const struct lifecycle_facts facts = { .wait_for_terminal = true };
    struct opening *opening = operation_new(sizeof *opening, call);
    struct store_change *change;

    memcpy(opening->operation.id, active->id, sizeof opening->operation.id);
    opening->fresh = launch_make();
    change = begin_change(opening, active, EVENT_INTERFACE_SWITCHED, &facts);
    change->interface = INTERFACE_TERMINAL;
    memcpy(change->launch_hash, opening->fresh.hash, DIGEST_BYTES);
    save(opening, on_renewed);
}

/* From now on it is told of this ask. */
static void show(struct operation *operation, bool is_kept)
{
    operation->session->is_attach_kept = is_kept;
    operation->engine->attached_count += operation->session->attached[0] == '\0';
    memcpy(operation->session->attached, operation->id, sizeof operation->id);
    list_reply_ask(operation);
}

static void on_attached(void *context, const struct store_reply *reply)
{
    struct opening *opening = context;
    struct operation *operation = &opening->operation;
    struct active_ask *active = active_find(operation->engine, operation->id);

    if (reply->outcome == STORE_DONE) {
        if (active)
            take_over(opening, active, reply);
        show(operation, true);
    } else if (reply->outcome == STORE_FAILED) {
        operation_fail(operation, &reply->err, NULL);
    } else if (reply->row && !state_is_open(reply->row->ask.state)) {
        list_reply_ask(operation); /* over in the meantime: the terminal shows how */
    } else {
        operation_say(operation, ERROR_wrong_state, "/launch", TEXT_REASON_LAUNCH_TAKEN, NULL);
    }
}

/* `opened` NULL: by its id, which leaves the code as it is. */
static void attach(struct operation *operation, struct active_ask *active, const uint8_t *opened)
{
    struct opening *opening = (struct opening *)operation;
    const struct launch *launch = active_rare(active)->launch;

    struct store_change *change = begin_change(opening, active, EVENT_ATTACHED, &nothing);

    if (launch)
        memcpy(change->launch_hash, opened ? opened : launch->hash, DIGEST_BYTES);
    if (opened && launch)
        memcpy(change->if_launch_hash, launch->hash, DIGEST_BYTES);
    save(opening, on_attached);
}

/* The agent's own shell ran the command of a destructive ask: it is shown, and the command stays
 * good for a terminal of the person's. */
static bool must_leave(const struct operation *operation, const struct active_ask *active)
{
    struct store_row row = active_row(active);

    return own_must_leave(operation, &row);
}

/* A person may open an ask as often as they like; only the first time is worth a note. */
static void attach_found(struct operation *operation)
{
    struct active_ask *active = active_find(operation->engine, operation->id);

    if (active && must_leave(operation, active))
        list_reply_ask(operation);
    else if (active && active->is_stored && active->state == STATE_PENDING_TERMINAL_LAUNCH)
        attach(operation, active, NULL);
    else
        show(operation, false);
}

static void on_spent(void *context, const struct store_reply *reply)
{
    struct operation *operation = context;

    if (operation_fails(operation, reply))
        return;
    if (reply->outcome != STORE_DONE)
        operation_say(operation, ERROR_not_found, "/launch", TEXT_REASON_LAUNCH_ELSEWHERE, NULL);
    else
        operation_say(operation, ERROR_wrong_state, "/launch", TEXT_REASON_LAUNCH_SPENT, NULL);
}

static void attach_by_code(struct operation *operation, const char *code, const char *key,
                           const char *id)
{
    uint8_t unused[DIGEST_BYTES], opened[DIGEST_BYTES];
    struct active_ask *active;

    hash_code(code, NULL, unused);
    hash_code(code, key, opened);
    active = find(operation->engine, unused);
    if (!active)
        active = find(operation->engine, opened);
    if (!active || !active->is_stored) {
        text_put(operation->id, sizeof operation->id, id && ask_id_is_valid(id) ? id : "");
        if (operation->id[0])
            operation_get(operation, on_spent);
        else
            on_spent(operation, &(struct store_reply){ .outcome = STORE_DONE });
        return;
    }
    memcpy(operation->id, active->id, sizeof operation->id);
    if (state_is_open(active->state) && !must_leave(operation, active))
        attach(operation, active, opened);
    else
        list_reply_ask(operation);
}

void ask_attach_method(struct method_call call)
{
    struct opening *opening = operation_new(sizeof *opening, call);
    const struct json *launch = json_member(call.params, "launch");
    const char *code = json_text(launch), *key = json_member_text(call.params, "key");

    if (!launch) {
        operation_find_ask(&opening->operation, call.params, attach_found);
        return;
    }
    if (!code || !ask_id_is_valid(code) || strlen(code) != json_length(launch)) {
        operation_say(&opening->operation, ERROR_bad_format, "/launch", TEXT_REASON_LAUNCH_FORMAT,
                      "count", TEXT_NUMBER(sizeof opening->fresh.text - 1), NULL);
        return;
    }
    attach_by_code(&opening->operation, code, key && strlen(key) <= LAUNCH_KEY_BYTES ? key : "",
                   json_member_text(call.params, "session_id"));
}

void launch_lose(struct engine *engine, const struct session *session)
{
    struct active_ask *active =
        session->is_attach_kept ? active_find(engine, session->attached) : NULL;
    struct opening *opening;

    if (!active || active->state != STATE_PENDING)
        return;
    opening = operation_of_ours(sizeof *opening, engine, active->id);
    begin_change(opening, active, EVENT_TERMINAL_LOST, &nothing);
    save(opening, operation_forget); /* that it is gone is seen; the note is for the history */
    active_mark_dirty(engine, active);
}

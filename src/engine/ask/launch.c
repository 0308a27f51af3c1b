/*
 * launch.c - an ask handed to a terminal (R6.2): the agent gets a command with a code that opens it
 * once. Only the code's hash is kept. Whoever opens it brings a key of its own, and what is kept
 * then is the hash of both: the same terminal may ask again, if the reply was lost with a hub, and
 * nobody else can. A fresh command replaces the hash, so the code before is worth nothing.
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
    struct live *live;
};

/* `key` NULL: nobody has used it. */
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

void launch_keep(struct engine *engine, struct live *live, const uint8_t hash[DIGEST_BYTES])
{
    static const uint8_t none[DIGEST_BYTES];
    struct launch *launch = live_rare(live)->launch;

    if (launch)
        table_remove(&engine->by_launch, &launch->link);
    if (memcmp(hash, none, sizeof none) == 0) {
        free(launch);
        if (live->rare)
            live->rare->launch = NULL;
        return;
    }
    if (!launch)
        launch = live_need_rare(live)->launch = mem_new(sizeof *launch);
    launch->live = live;
    memcpy(launch->hash, hash, sizeof launch->hash);
    table_insert(&engine->by_launch, &launch->link);
}

static struct live *find(const struct engine *engine, const uint8_t hash[DIGEST_BYTES])
{
    struct table_link *link = table_find(&engine->by_launch, hash);

    return link ? TABLE_THING(launch, link, link)->live : NULL;
}

bool launch_is_usable(const struct engine *engine)
{
    return engine->parts.terminal_built && settings_is_on(engine->parts.settings, SETTING_TERMINAL);
}

/* It names its hub, since a terminal's environment may lead to another one, and its ask, so that a
 * hub that does not have it can say so. On another machine our program has a place of its own. */
static void write_command(const struct engine *engine, const struct session *session,
                          const struct live *live, const char *code, struct text *out)
{
    bool is_remote = session->uid < 0;
    const char *socket = engine->parts.socket;
    const char *place = is_remote ? engine->public_url : socket ? socket : "";
    struct text hub = { 0 };

    text_add_shell_word(out, is_remote || !engine->parts.program ? "sayso" : engine->parts.program);
    text_add_format(out, " attach %s", live->id);
    if (*place) {
        text_add_format(&hub, "%s%s", is_remote ? "" : "unix:", place);
        text_add_text(out, " --hub ");
        text_add_shell_word(out, text_string(&hub));
    }
    text_add_format(out, " --launch %s", code);
    text_release(&hub);
}

void launch_reply(struct method_call call, const struct live *live, const struct launch_code *code)
{
    struct text command = { 0 }, result = { 0 };
    struct store_row row = live_row(live);
    struct reply reply;

    write_command(call.engine, call.session, live, code->text, &command);
    reply = describe_open(call.engine, &row, text_string(&command), NULL, &result);
    notices_reply(call, &reply);
    text_release(&command);
    text_release(&result);
}

/* A change of who may open an ask, on its way to the store. */
struct opening {
    struct errand errand; /* first */
    struct lifecycle_step step;
    struct store_change change;
    struct launch_code fresh; /* of a renewal */
};

static const struct lifecycle_facts nothing;

/* What is to be set besides is set before it is saved. */
static struct store_change *begin_change(struct opening *opening, const struct live *live,
                                         enum ask_event event, const struct lifecycle_facts *facts)
{
    opening->step = lifecycle_next(live->state, event, facts);
    opening->change =
        effects_change(opening->errand.engine, opening->errand.id, event, &opening->step, facts);
    return &opening->change;
}

static void save(struct opening *opening, store_done *done)
{
    errand_begin_write(&opening->errand);
    CRASH_POINT(engine_before_launch);
    store_write_change(opening->errand.engine->parts.store, &opening->change, done, opening);
}

/* What the store has now is what memory knows from now on. */
static void take_over(struct opening *opening, struct live *live, const struct store_reply *reply)
{
    CRASH_POINT(engine_after_launch);
    live->seq = reply->seq;
    launch_keep(opening->errand.engine, live, opening->change.launch_hash);
    effects_run(opening->errand.engine, live, &opening->step, &opening->change, NULL, NULL);
}

static void on_renewed(void *context, const struct store_reply *reply)
{
    struct opening *opening = context;
    struct errand *errand = &opening->errand;
    struct live *live = live_find(errand->engine, errand->id);

    if (reply->outcome == STORE_DONE && live) {
        take_over(opening, live, reply);
        launch_reply(errand_call(errand), live, &opening->fresh);
        errand_end(errand);
    } else if (reply->outcome == STORE_LOST && !live) {
        wait_reply_row(errand, reply->row, false); /* decided meanwhile: that is what is wanted */
        errand_end(errand);
    } else if (reply->outcome == STORE_FAILED) {
        errand_fail(errand, &reply->err, NULL);
    } else {
        errand_refuse(errand, ERROR_wrong_state, "/session_id",
                      "this ask was just decided: collect it with its session_id alone");
    }
}

void launch_renew(struct method_call call, struct live *live)
{
    const struct lifecycle_facts facts = { .wait_for_terminal = true };
    struct opening *opening = errand_new(sizeof *opening, call);
    struct store_change *change;

    memcpy(opening->errand.id, live->id, sizeof opening->errand.id);
    opening->fresh = launch_make();
    change = begin_change(opening, live, EVENT_INTERFACE_SWITCHED, &facts);
    change->interface = INTERFACE_TERMINAL;
    memcpy(change->launch_hash, opening->fresh.hash, DIGEST_BYTES);
    save(opening, on_renewed);
}

/* From now on it is told of this ask. */
static void show(struct errand *errand, bool is_kept)
{
    errand->session->is_attach_kept = is_kept;
    errand->engine->attached_count += errand->session->attached[0] == '\0';
    memcpy(errand->session->attached, errand->id, sizeof errand->id);
    look_reply(errand);
}

static void on_attached(void *context, const struct store_reply *reply)
{
    struct opening *opening = context;
    struct errand *errand = &opening->errand;
    struct live *live = live_find(errand->engine, errand->id);

    if (reply->outcome == STORE_DONE) {
        if (live)
            take_over(opening, live, reply);
        show(errand, true);
    } else if (reply->outcome == STORE_FAILED) {
        errand_fail(errand, &reply->err, NULL);
    } else if (reply->row && !state_is_open(reply->row->ask.state)) {
        look_reply(errand); /* over meanwhile: the terminal shows how */
    } else {
        errand_say(errand, ERROR_wrong_state, "/launch", TEXT_REASON_LAUNCH_TAKEN, NULL);
    }
}

/* `opened` NULL: by its id, which changes nobody's code. */
static void attach(struct errand *errand, struct live *live, const uint8_t *opened)
{
    struct opening *opening = (struct opening *)errand;
    const struct launch *launch = live_rare(live)->launch;

    struct store_change *change = begin_change(opening, live, EVENT_ATTACHED, &nothing);

    if (launch)
        memcpy(change->launch_hash, opened ? opened : launch->hash, DIGEST_BYTES);
    if (opened && launch)
        memcpy(change->if_launch_hash, launch->hash, DIGEST_BYTES);
    save(opening, on_attached);
}

/* The agent's own shell ran the command of a destructive ask: it is shown, and the command stays
 * good for a terminal of the person's. */
static bool must_leave(const struct errand *errand, const struct live *live)
{
    struct store_row row = live_row(live);

    return own_must_leave(errand, &row);
}

/* A person may open an ask as often as they like; only the first time is worth a note. */
static void attach_found(struct errand *errand)
{
    struct live *live = live_find(errand->engine, errand->id);

    if (live && must_leave(errand, live))
        look_reply(errand);
    else if (live && live->is_stored && live->state == STATE_PENDING_TERMINAL_LAUNCH)
        attach(errand, live, NULL);
    else
        show(errand, false);
}

static void on_spent(void *context, const struct store_reply *reply)
{
    struct errand *errand = context;

    if (errand_fails(errand, reply))
        return;
    if (reply->outcome != STORE_DONE)
        errand_say(errand, ERROR_not_found, "/launch", TEXT_REASON_LAUNCH_ELSEWHERE, NULL);
    else
        errand_say(errand, ERROR_wrong_state, "/launch", TEXT_REASON_LAUNCH_SPENT, NULL);
}

static void attach_by_code(struct errand *errand, const char *code, const char *key, const char *id)
{
    uint8_t unused[DIGEST_BYTES], opened[DIGEST_BYTES];
    struct live *live;

    hash_code(code, NULL, unused);
    hash_code(code, key, opened);
    live = find(errand->engine, unused);
    if (!live)
        live = find(errand->engine, opened);
    if (!live || !live->is_stored) {
        text_put(errand->id, sizeof errand->id, id && ask_id_is_valid(id) ? id : "");
        if (errand->id[0])
            errand_get(errand, on_spent);
        else
            on_spent(errand, &(struct store_reply){ .outcome = STORE_DONE });
        return;
    }
    memcpy(errand->id, live->id, sizeof errand->id);
    if (state_is_open(live->state) && !must_leave(errand, live))
        attach(errand, live, opened);
    else
        look_reply(errand);
}

void ask_attach_method(struct method_call call)
{
    struct opening *opening = errand_new(sizeof *opening, call);
    const struct json *launch = json_member(call.params, "launch");
    const char *code = json_text(launch), *key = json_member_text(call.params, "key");

    if (!launch) {
        errand_find_ask(&opening->errand, call.params, attach_found);
        return;
    }
    if (!code || !ask_id_is_valid(code) || strlen(code) != json_length(launch)) {
        errand_say(&opening->errand, ERROR_bad_format, "/launch", TEXT_REASON_LAUNCH_FORMAT,
                   "count", TEXT_NUMBER(sizeof opening->fresh.text - 1), NULL);
        return;
    }
    attach_by_code(&opening->errand, code, key && strlen(key) <= LAUNCH_KEY_BYTES ? key : "",
                   json_member_text(call.params, "session_id"));
}

void launch_lose(struct engine *engine, const struct session *session)
{
    struct live *live = session->is_attach_kept ? live_find(engine, session->attached) : NULL;
    struct opening *opening;

    if (!live || live->state != STATE_PENDING)
        return;
    opening = errand_of_ours(sizeof *opening, engine, live->id);
    begin_change(opening, live, EVENT_TERMINAL_LOST, &nothing);
    save(opening, errand_forget); /* that it is gone is seen; the note is for the history */
    live_mark_dirty(engine, live);
}

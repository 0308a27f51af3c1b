/*
 * fuzz_sequence.c - agents, people and the clock do anything in any order, on the real engine and
 * its real store in memory: connections come and go, the hub restarts and dies, the store is slow.
 * What must hold at every moment is checked: a call is answered once and never behind its
 * connection, an ask is decided once (but for undo), an agent gets its own asks alone, with what
 * was answered, a result that was confirmed is given to no later call, and an act is for its role.
 * Proves: R5.1 R5.8 R12.1 R12.2 P1 P2 P8 P14
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "one_thread.h"
#include "rpc/service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEATS = 14, AGENT_SEATS = 3, ASKS = 8, CALLS = 40, STEPS = 24, TITLES = 3, HOWS = 16 };

/* Two connections of one agent, another agent, and people of every channel; then those with
 * fewer rights than the owner: a sub-agent, a host, and peers with a token or another uid. */
static const struct {
    enum session_role role;
    int principal; /* of an agent */
    const char *name, *via, *tty, *token_id;
    bool is_sub_agent, may_answer, is_stranger;
} seats[SEATS] = {
    { .role = ROLE_AGENT, .principal = 0, .name = "alpha", .via = "cli" },
    { .role = ROLE_AGENT, .principal = 0, .name = "alpha", .via = "cli" },
    { .role = ROLE_AGENT, .principal = 1, .name = "beta", .via = "cli" },
    { .role = ROLE_PERSON, .name = "ada", .via = "cli", .tty = "/dev/pts/1" },
    { .role = ROLE_PERSON, .name = "ada", .via = "web" },
    { .role = ROLE_PERSON, .name = "bob", .via = "terminal", .tty = "/dev/pts/2" },
    { .role = ROLE_PERSON, .name = "bob", .via = "api" },
    { .role = ROLE_PERSON, .name = "eve", .via = "cli" },
    { .role = ROLE_AGENT, .principal = 2, .name = "sub", .via = "cli", .is_sub_agent = true },
    { .role = ROLE_AGENT, .principal = 3, .name = "alpha", .via = "api", .token_id = "aaaa" },
    { .role = ROLE_AGENT,
      .principal = 4,
      .name = "host",
      .via = "api",
      .token_id = "hhhh",
      .may_answer = true },
    { .role = ROLE_AGENT, .principal = 5, .name = "alpha", .via = "cli", .is_stranger = true },
    { .role = ROLE_PERSON, .name = "ada", .via = "api", .token_id = "pppp" },
    { .role = ROLE_PERSON, .name = "mallory", .via = "cli", .is_stranger = true },
};

enum kind {
    KIND_OTHER_ACT,
    KIND_ASK,
    KIND_COLLECT,
    KIND_CONFIRM,
    KIND_DECIDE,
    KIND_UNDO,
    KIND_CODE
};

/* One call that was made; it stays where it is until the end. */
struct made {
    struct call call; /* first */
    enum kind kind;
    int app, ask; /* ask -1: none */
    char pick;    /* of an answer; 0: it decides otherwise */
    bool is_seen, is_forbidden;
};

struct known {
    char id[ASK_ID_BYTES];
    int principal;
    char picks[4]; /* those that were accepted, not undone; "": none */
    bool is_ended;
    bool is_doubtful; /* who decided was gone before it was told */
    bool is_given;    /* an agent has its result */
    bool is_confirmed;
    size_t confirmed_at; /* calls from this one on were made after that */
    char code[8];
};

static struct stage *stage;

static struct {
    struct caller *callers[SEATS];
    struct made calls[CALLS];
    size_t call_count;
    struct known asks[ASKS];
    size_t ask_count;
    const uint8_t *at, *end;
} world;

static void demand(bool is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

static unsigned next(unsigned max)
{
    return world.at < world.end ? *world.at++ % max : 0;
}

static int known_ask(const char *id)
{
    for (size_t i = 0; i < world.ask_count; i++) {
        if (strcmp(world.asks[i].id, id) == 0)
            return (int)i;
    }
    return -1;
}

/* Whether a decision with this pick (0: any) waits for its reply: the store may have it already,
 * and who reads the ask there sees it before its sender is told. */
static bool is_on_its_way(int ask, char pick)
{
    for (size_t i = 0; i < world.call_count; i++) {
        const struct made *made = &world.calls[i];

        if (made->kind == KIND_DECIDE && made->ask == ask && made->call.replies == 0 &&
            (!pick || made->pick == pick))
            return true;
    }
    return false;
}

/* What was confirmed is over for the agent: the same call is about something else. */
static void check_again(const struct made *made, const struct known *ask)
{
    demand(!ask->is_confirmed || (size_t)(made - world.calls) < ask->confirmed_at,
           "a result that was confirmed is given again");
}

/* A final result at an agent: of its own ask, with what a person answered. */
static void check_result(const struct made *made)
{
    const char *id = call_text(&made->call, "/session_id");
    const char *picked = call_text(&made->call, "/selection/selected_ids/0");
    int ask = known_ask(id);

    if (ask < 0)
        return;
    demand(world.asks[ask].principal == seats[made->app].principal,
           "an agent got the ask of another");
    if (made->kind == KIND_ASK)
        check_again(made, &world.asks[ask]);
    if (made->call.is_final && (made->kind == KIND_ASK || made->kind == KIND_COLLECT))
        world.asks[ask].is_given = true;
    if (made->call.is_final && call_is_yes(&made->call, "/explicit") && picked[0] &&
        !world.asks[ask].is_doubtful)
        demand(strchr(world.asks[ask].picks, picked[0]) || is_on_its_way(ask, picked[0]),
               "a result no one has answered");
}

static void note_decision(const struct made *made)
{
    struct known *ask = made->ask >= 0 ? &world.asks[made->ask] : NULL;

    if (!ask || made->call.err.code != ERROR_NONE)
        return;
    if (call_is_yes(&made->call, "/already")) {
        demand(ask->is_doubtful || (made->pick ? strchr(ask->picks, made->pick) ||
                                                     is_on_its_way(made->ask, made->pick)
                                               : !ask->picks[0]),
               "what was decided otherwise is so already");
        return;
    }
    demand(!ask->is_ended || ask->is_doubtful, "an ask was decided twice");
    ask->is_ended = true;
    if (made->pick)
        snprintf(ask->picks, sizeof ask->picks, "%c", made->pick);
}

static void look(struct made *made)
{
    demand(made->call.replies <= 1, "a call was answered twice");
    if (made->is_seen || made->call.replies == 0)
        return;
    made->is_seen = true;
    demand(!made->is_forbidden || made->call.err.code != ERROR_NONE, "an act of another role");
    if (seats[made->app].role == ROLE_AGENT && made->call.err.code == ERROR_NONE)
        check_result(made);
    if (made->kind == KIND_DECIDE)
        note_decision(made);
    if (made->kind == KIND_CONFIRM && made->call.err.code == ERROR_NONE &&
        !world.asks[made->ask].is_confirmed) {
        world.asks[made->ask].is_confirmed = true;
        world.asks[made->ask].confirmed_at = world.call_count;
    }
    if (made->kind == KIND_UNDO && made->call.err.code == ERROR_NONE && made->ask >= 0) {
        world.asks[made->ask].is_doubtful |= is_on_its_way(made->ask, 0);
        demand(world.asks[made->ask].is_ended || world.asks[made->ask].is_doubtful,
               "what was not decided was undone");
        world.asks[made->ask].is_ended = false;
        world.asks[made->ask].picks[0] = '\0';
    }
    if (made->kind == KIND_CODE && made->call.err.code == ERROR_NONE && made->ask >= 0)
        snprintf(world.asks[made->ask].code, sizeof world.asks[0].code, "%s",
                 call_text(&made->call, "/code"));
}

/* What was decided first, each in the order in which it was made: agents hear of it behind that. */
static void settle(void)
{
    stage_settle(stage);
    for (int decided = 1; decided >= 0; decided--) {
        for (size_t i = 0; i < world.call_count; i++) {
            enum kind kind = world.calls[i].kind;

            if ((kind == KIND_DECIDE || kind == KIND_UNDO) == decided)
                look(&world.calls[i]);
        }
    }
}

static struct made *make(enum kind kind, int app, int ask)
{
    struct made *made;

    if (!world.callers[app] || world.call_count == CALLS)
        return NULL;
    made = &world.calls[world.call_count++];
    *made = (struct made){ .kind = kind, .app = app, .ask = ask };
    return made;
}

static void come(int app)
{
    struct identity identity = seats[app].role == ROLE_AGENT ? visitor_agent(seats[app].name)
                                                             : visitor_person(seats[app].via);

    if (world.callers[app])
        return;
    identity.tty = seats[app].tty ? seats[app].tty : "";
    identity.name = seats[app].name;
    identity.token = identity.token_id = seats[app].token_id;
    identity.is_sub_agent = seats[app].is_sub_agent;
    identity.may_answer = seats[app].may_answer;
    identity.uid += seats[app].is_stranger;
    world.callers[app] = caller_enter(stage, seats[app].name, &identity);
}

/* Nothing of it is answered any more. */
static void go(int app)
{
    int replies[CALLS];

    if (!world.callers[app])
        return;
    for (size_t i = 0; i < world.call_count; i++) {
        struct made *made = &world.calls[i];

        replies[i] = made->call.replies;
        if (made->app == app && made->call.replies == 0 && made->ask >= 0 &&
            (made->kind == KIND_DECIDE || made->kind == KIND_UNDO))
            world.asks[made->ask].is_doubtful = true;
    }
    caller_leave(world.callers[app]);
    world.callers[app] = NULL;
    settle();
    for (size_t i = 0; i < world.call_count; i++)
        demand(world.calls[i].app != app || world.calls[i].call.replies == replies[i],
               "a connection that is gone was answered");
}

static void ask(int app, unsigned title, unsigned how)
{
    static const char *const more[] = {
        "", ",'destructive':true", ",'timeout_seconds':60",
        ",'timeout_seconds':60,'timeout_action':'submit_defaults'"
    };
    static const int waits[] = { -1, 0, 5, 600 };
    struct made *made = make(KIND_ASK, app, -1);
    char name[32];
    struct json *created;
    const char *id;

    if (!made)
        return;
    snprintf(name, sizeof name, "%u", title);
    caller_forget(world.callers[app]);
    ask_start(&made->call, world.callers[app], name, more[how % 4], waits[how / 4 % 4]);
    stage_settle(stage);
    created = caller_event(world.callers[app], "ask/created");
    id = created ? json_text(json_at(created, "/params/session_id")) : NULL;
    if (!id && made->call.err.code == ERROR_NONE)
        id = call_text(&made->call, "/session_id");
    if (id && id[0] && known_ask(id) < 0 && world.ask_count < ASKS) {
        struct known *known = &world.asks[world.ask_count++];

        *known = (struct known){ .principal = seats[app].principal };
        snprintf(known->id, sizeof known->id, "%s", id);
    }
    made->ask = id ? known_ask(id) : -1;
    if (made->ask >= 0)
        check_again(made, &world.asks[made->ask]);
    json_free(created);
}

static bool is_for_owner(const char *method)
{
    static const char *const names[] = { "rule/add", "rule/remove", "token/new", "token/revoke",
                                         "portal/link" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(method, names[i]) == 0)
            return true;
    }
    return false;
}

/* An act about an ask, by anybody: whose it is not is refused. */
static void act(enum kind kind, enum session_role role, int app, int at, const char *method,
                const char *more)
{
    struct made *made;

    demand(method_find(method) < METHOD_COUNT, method);
    if (at < 0 || (size_t)at >= world.ask_count)
        return;
    made = make(kind, app, at);
    if (!made)
        return;
    if (kind == KIND_DECIDE && strstr(more, "selected_ids"))
        made->pick = strstr(more, "['b']") ? 'b' : 'a';
    made->is_forbidden = role != seats[app].role ||
                         ((seats[app].token_id || seats[app].is_stranger) && is_for_owner(method));
    call_start(&made->call, world.callers[app], method_find(method), "{'session_id':'%s'%s}",
               world.asks[at].id, more);
}

static const struct {
    enum kind kind;
    enum session_role role;
    const char *method, *more;
} acts[] = {
    { KIND_DECIDE, ROLE_PERSON, "ask/answer", ",'selected_ids':['a']" },
    { KIND_DECIDE, ROLE_PERSON, "ask/answer", ",'selected_ids':['b']" },
    { KIND_DECIDE, ROLE_PERSON, "ask/answer", ",'selected_ids':['b'],'answer_key':'one'" },
    { KIND_DECIDE, ROLE_PERSON, "ask/answer", ",'selected_ids':['a'],'version':1" },
    { KIND_DECIDE, ROLE_PERSON, "ask/cancel", "" },
    { KIND_DECIDE, ROLE_PERSON, "ask/decline", "" },
    { KIND_DECIDE, ROLE_AGENT, "ask/withdraw", "" },
    { KIND_UNDO, ROLE_PERSON, "ask/undo", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/send", "" },
    { KIND_CODE, ROLE_PERSON, "ask/challenge", "" },
    { KIND_COLLECT, ROLE_AGENT, "ask/wait", ",'wait_seconds':0" },
    { KIND_COLLECT, ROLE_AGENT, "ask/wait", ",'wait_seconds':600" },
    { KIND_COLLECT, ROLE_AGENT, "ask/wait", ",'wait_seconds':5,'explanation':'because of this'" },
    { KIND_OTHER_ACT, ROLE_AGENT, "ask/detach", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/extend", ",'seconds':120" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/back", ",'text':'why is that so?'" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/draft", ",'draft':{'custom_input':'x'}" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/later", ",'seconds':60" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/get", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/list", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/watch", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "ask/history", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "rule/preview", "" },
    { KIND_OTHER_ACT, ROLE_PERSON, "settings/list", "" },
};

/* With the code that was shown last, right or not. */
static void answer_by_code(int app, int at)
{
    char more[64];

    if (at < 0 || (size_t)at >= world.ask_count)
        return;
    snprintf(more, sizeof more, ",'selected_ids':['a'],'code':'%s'", world.asks[at].code);
    act(KIND_DECIDE, ROLE_PERSON, app, at, "ask/answer", more);
}

static void confirm(int app, int at)
{
    struct made *made;

    const struct known *ask = &world.asks[at];
    bool is_own;

    if ((size_t)at >= world.ask_count || seats[app].role != ROLE_AGENT)
        return;
    is_own = ask->is_given && ask->principal == seats[app].principal;
    made = make(is_own ? KIND_CONFIRM : KIND_OTHER_ACT, app, at);
    if (made)
        call_start(&made->call, world.callers[app], METHOD_ask_delivered, "{'session_ids':['%s']}",
                   world.asks[at].id);
}

/* Any method of the wire that no row above has. */
static void act_otherwise(int app, int at, unsigned which)
{
    static const char *const agents[] = { "mine/", "client/" };
    const char *method = methods[which].name;
    enum session_role role = ROLE_PERSON;

    if (!method || methods[which].flags & METHOD_OF_HUB || which == METHOD_ask_create ||
        which == METHOD_ask_delivered)
        return; /* the hub's program answers it, or another step here makes it */
    for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
        if (strcmp(method, acts[i].method) == 0)
            return;
    }
    for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
        if (strncmp(method, agents[i], strlen(agents[i])) == 0)
            role = ROLE_AGENT;
    }
    act(KIND_OTHER_ACT, role, app, at, method,
        ",'action':'accept','content':{},'shown_ms':9,'held_ms':9,'option_id':'b','hidden':true,"
        "'interface':'portal','name':'language','value':'de','kind':'agent','label':'x','id':'x'");
}

static int agent_seat(int app)
{
    return app >= 8 && seats[app].role == ROLE_AGENT ? app : app % AGENT_SEATS;
}

static void leave_all(void)
{
    for (int app = 0; app < SEATS; app++)
        go(app);
}

/* Whether `what` is one of the next so many; else it is told from those behind them. */
static bool is_of(unsigned *what, unsigned count)
{
    if (*what < count)
        return true;
    *what -= count;
    return false;
}

static void start_again(bool is_crash)
{
    stage_release(stage);
    leave_all();
    (is_crash ? stage_crash : stage_restart)(stage);
}

/* Two bytes: what is done, and by whom about which ask. */
static void step(void)
{
    static const int64_t spans_ms[] = { 10, 1000, 5000, 61000, 3600000, 700000 };
    unsigned what = next(256), who = next(256);
    int app = (int)(who % SEATS),
        at = (int)(who / SEATS % (world.ask_count ? (unsigned)world.ask_count : 1));

    if (is_of(&what, ARRAY_LEN(acts))) {
        act(acts[what].kind, acts[what].role, app, at, acts[what].method, acts[what].more);
    } else if (is_of(&what, TITLES * HOWS)) {
        come(agent_seat(app));
        ask(agent_seat(app), what % TITLES, what / TITLES);
    } else if (is_of(&what, ARRAY_LEN(spans_ms))) {
        one_thread_advance(stage, spans_ms[what]);
    } else if (is_of(&what, 8)) {
        come(app);
    } else if (is_of(&what, 4)) {
        go(app);
    } else if (is_of(&what, 2)) {
        stage->store.holds_replies = what;
    } else if (is_of(&what, 1)) {
        stage_release(stage);
    } else if (is_of(&what, 2)) {
        start_again(what);
    } else if (is_of(&what, 2)) {
        answer_by_code(app, at);
    } else if (is_of(&what, 4)) {
        confirm(agent_seat(app), at);
    } else {
        act_otherwise(app, at, what % METHOD_COUNT);
    }
    settle();
}

/* Nothing but the tables. */
static void prepare(struct stage *opened)
{
    stage_settle(opened);
}

static void play(struct stage *opened)
{
    stage = opened;
    come(0);
    come(3);
    ask(0, 0, 0);
    settle();
    for (int i = 0; i < STEPS && world.at < world.end; i++)
        step();
    stage_release(stage);
    settle();
    leave_all();
    for (size_t i = 0; i < world.call_count; i++)
        call_release(&world.calls[i].call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memset(&world, 0, sizeof world);
    world.at = data;
    world.end = data + size;
    one_thread_run(prepare, play);
    return 0;
}

/* observer.c - see observer.h. */
#include "observer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "net.h"
#include "task.h"
#include "world.h"

enum { LATE_MS = 1000, GRACE_MS = 6000 };

struct observer observer;

void observer_begin(void)
{
    memset(&observer, 0, sizeof observer);
}

void observer_break(const char *promise, const char *format, ...)
{
    va_list arguments;
    int used;

    if (observer.broken[0])
        return;
    used = snprintf(observer.broken, sizeof observer.broken, "%s: ", promise);
    va_start(arguments, format);
    vsnprintf(observer.broken + used, sizeof observer.broken - (size_t)used, format, arguments);
    va_end(arguments);
    world_tell("BROKEN %s", observer.broken);
}

struct ask_seen *observer_find(const char *id)
{
    for (size_t i = 0; id && i < observer.ask_count; i++) {
        if (strcmp(observer.asks[i].id, id) == 0)
            return &observer.asks[i];
    }
    return NULL;
}

static struct ask_seen *find_or_add(const char *id, int principal, int call)
{
    struct ask_seen *ask = observer_find(id);

    if (ask || !id || strlen(id) != ID_CHARS || observer.ask_count == ASKS_MAX)
        return ask;
    ask = &observer.asks[observer.ask_count++];
    *ask = (struct ask_seen){ .principal = principal, .call = call, .changed_at = world.step };
    memcpy(ask->id, id, ID_CHARS);
    return ask;
}

/* What stands between two letters, as in N:12:N; 0: nothing more. */
static int next_nonce(const char **at, const char *letter)
{
    *at = strstr(*at, letter);
    if (!*at)
        return 0;
    *at += strlen(letter);
    return (int)strtol(*at, (char **)at, 10);
}

static struct act_seen *find_act(int nonce)
{
    for (size_t i = 0; i < observer.act_count; i++) {
        if (observer.acts[i].nonce == nonce)
            return &observer.acts[i];
    }
    return NULL;
}

/* The decision that was acknowledged and not taken back. */
static struct act_seen *winner_of(const struct ask_seen *ask)
{
    for (size_t i = 0; i < observer.act_count; i++) {
        struct act_seen *act = &observer.acts[i];

        if (act->ask == ask && act->fate == FATE_ACKNOWLEDGED && !act->is_undoing)
            return act;
    }
    return NULL;
}

static bool may_be_decided(const struct ask_seen *ask)
{
    for (size_t i = 0; i < observer.act_count; i++) {
        const struct act_seen *act = &observer.acts[i];

        if (act->ask == ask && act->fate != FATE_REFUSED && !act->is_undone)
            return true;
    }
    return ask->is_withdrawing;
}

/* --- agents --- */

static bool is_asking(const struct agent_request *request)
{
    return strcmp(request->method, "ask/create") == 0 || strcmp(request->method, "tools/call") == 0;
}

/* Nothing that this call asked for is open, or may be without having been heard of. */
static bool is_settled(int principal, int call)
{
    for (size_t i = 0; i < observer.ask_count; i++) {
        const struct ask_seen *ask = &observer.asks[i];

        if (ask->principal == principal && ask->call == call && ask->ending == END_NONE &&
            !winner_of(ask))
            return false;
    }
    return observer.unheard[principal][call] == 0 && !observer.is_shared[principal];
}

/* An answer that is kept for this call: acknowledged for good, and in no hands. A connection may
 * have been given it before it read that, so only its first such call is sure to get it. */
static struct ask_seen *find_kept(int principal, int call)
{
    for (size_t i = 0; i < observer.ask_count && is_settled(principal, call); i++) {
        struct ask_seen *ask = &observer.asks[i];
        const struct act_seen *winner = winner_of(ask);

        if (ask->principal == principal && ask->call == call && winner && !ask->is_confirming &&
            !ask->is_withdrawing &&
            times.boot_ms > winner->acknowledged_ms + winner->undo_ms + LATE_MS &&
            (!ask->hands || ask->hands->is_end_seen))
            return ask;
    }
    return NULL;
}

void observer_on_call(int principal, struct agent_request *request)
{
    request->sent_at = world.step;
    request->sent_ms = times.boot_ms;
    if (is_asking(request)) {
        if (request->is_first && !request->has_state)
            request->expected = find_kept(principal, request->call);
        observer.unheard[principal][request->call]++;
        if (observer.first_ms[principal][request->call] == 0)
            observer.first_ms[principal][request->call] = times.boot_ms;
    }
    if (request->ask && strcmp(request->method, "ask/delivered") == 0)
        request->ask->is_confirming = true;
    if (request->ask && strcmp(request->method, "ask/withdraw") == 0)
        request->ask->is_withdrawing = ++request->ask->withdrawals > 0;
}

static enum end_seen read_ending(const struct json *result)
{
    static const struct {
        const char *word;
        enum end_seen ending;
    } words[] = {
        { "selected", END_ANSWERED }, { "custom_input", END_ANSWERED }, { "accept", END_ANSWERED },
        { "answered", END_ANSWERED }, { "cancelled", END_CANCELLED },   { "cancel", END_CANCELLED },
        { "decline", END_CANCELLED }, { "timeout", END_TIMEOUT },
    };
    const char *said = json_member_text(result, "action_status");

    said = said ? said : json_member_text(result, "action");
    said = said ? said : json_member_text(result, "status");
    if (json_is_true(json_member(result, "withdrawn")))
        return END_WITHDRAWN;
    for (size_t i = 0; said && i < sizeof words / sizeof *words; i++) {
        if (strcmp(said, words[i].word) == 0)
            return words[i].ending;
    }
    return END_NONE;
}

bool observer_is_over(const struct json *result)
{
    return read_ending(result) != END_NONE;
}

/* Of every line an agent gets: nothing in it is another's, a draft, refused or taken back. */
static void check_words(int principal, const char *line)
{
    const char *at = line;
    int nonce;

    while ((nonce = next_nonce(&at, "N:"))) {
        struct act_seen *act = find_act(nonce);

        if (!act || act->ask->principal != principal)
            observer_break("P4", "agent %d got what was said to another: N%d", principal, nonce);
        else if (act->fate == FATE_REFUSED)
            observer_break("P3", "agent %d got N%d, which was refused", principal, nonce);
        else if (act->is_undone)
            observer_break("P1", "agent %d got N%d, which was taken back", principal, nonce);
        else
            act->is_told = true;
    }
    at = line;
    if ((nonce = next_nonce(&at, "D:")))
        observer_break("P7", "agent %d got a draft: D%d", principal, nonce);
    for (at = line; (at = strstr(at, "\"session_id\":\"")); at++) {
        char id[ID_CHARS + 1] = "";
        const struct ask_seen *ask;

        memcpy(id, at + 14, strnlen(at + 14, ID_CHARS));
        ask = observer_find(id);
        if (ask && ask->principal != principal)
            observer_break("P4", "agent %d was told of %.8s, which is another's", principal, id);
    }
}

static void check_answered(const struct ask_seen *ask, const struct act_seen *act, int nonce)
{
    if (!act || act->ask != ask)
        observer_break("P7", "%.8s is answered by nobody (N%d)", ask->id, nonce);
    else if (act->kind != ACT_ANSWER)
        observer_break("P7", "%.8s is answered by what was a refusal (N%d)", ask->id, nonce);
}

static void check_silent(const struct ask_seen *ask, const char *line)
{
    if (strstr(line, "\"selected_ids\":[\"") || strstr(line, "\"La\"") || strstr(line, "\"Lb\""))
        observer_break("P7", "%.8s has a selection that nobody made", ask->id);
    if (ask->ending == END_TIMEOUT && times.boot_ms < ask->ends_from_ms)
        observer_break("P6", "%.8s timed out %lld ms early", ask->id,
                       (long long)(ask->ends_from_ms - times.boot_ms));
}

static void take_ending(struct ask_seen *ask, enum end_seen ending, const char *line)
{
    const struct act_seen *winner = winner_of(ask);
    const char *at = line;
    int nonce = next_nonce(&at, "N:");
    const struct act_seen *act = find_act(nonce);

    if (ask->ending != END_NONE && (ask->ending != ending || ask->nonce != nonce))
        observer_break("P1", "%.8s ended twice, differently (N%d, then N%d)", ask->id, ask->nonce,
                       nonce);
    if (winner && winner->nonce != nonce)
        observer_break("P1", "%.8s: N%d was acknowledged, the agent got %s%d", ask->id,
                       winner->nonce, nonce ? "N" : "nothing, ending ",
                       nonce ? nonce : (int)ending);
    ask->ending = ending;
    ask->nonce = nonce;
    ask->ended_at = world.step;
    if (ending == END_ANSWERED)
        check_answered(ask, act, nonce);
    else
        check_silent(ask, line);
    if (ending == END_CANCELLED && !ask->is_declining &&
        (!act || act->ask != ask || act->kind == ACT_ANSWER))
        observer_break("P7", "%.8s was cancelled by nobody", ask->id);
    if (ending == END_WITHDRAWN && !ask->is_withdrawing)
        observer_break("P7", "%.8s was withdrawn by nobody", ask->id);
}

/* An ask was made after the first call of its kind was sent and before its id was heard of. What
 * `left_ms` says was so between then and now. */
static void see_deadline(struct ask_seen *ask, int64_t sent_ms, int64_t left_ms)
{
    int64_t timeout_ms = agent_timeout_s(ask->principal, ask->call) * 1000;

    if (ask->ends_to_ms == 0) {
        ask->ends_from_ms = observer.first_ms[ask->principal][ask->call] + timeout_ms;
        ask->ends_to_ms = times.boot_ms + timeout_ms;
    }
    if (ask->is_retimed || left_ms <= GRACE_MS)
        return; /* nothing ends in the first seconds after a sleep */
    if (times.boot_ms + left_ms < ask->ends_from_ms)
        observer_break("P6", "%.8s has %lld ms left, which is early", ask->id, (long long)left_ms);
    if (sent_ms + left_ms > ask->ends_to_ms + LATE_MS)
        observer_break("P5", "%.8s has %lld ms left, which is late", ask->id, (long long)left_ms);
    if (sent_ms + left_ms > ask->ends_from_ms)
        ask->ends_from_ms = sent_ms + left_ms;
    if (times.boot_ms + left_ms < ask->ends_to_ms)
        ask->ends_to_ms = times.boot_ms + left_ms;
}

static void see_created(int principal, const struct agent_request *request, const char *id,
                        int64_t left_ms)
{
    struct ask_seen *ask = find_or_add(id, principal, request->call);

    if (!ask)
        return;
    see_deadline(ask, request->sent_ms, left_ms);
    if (ask->confirmed_at && ask->confirmed_at < request->sent_at && !request->has_state)
        observer_break("P8", "%.8s was confirmed, and is given to a later call", ask->id);
    if (request->expected && !may_be_decided(ask) && !request->expected->is_confirming)
        observer_break("P8", "%.8s has an answer that nobody confirmed, and its call asks again",
                       request->expected->id);
}

/* A front confirms by itself what its client has read; while no hub ended nothing of that is lost.
 */
static void check_front(struct ask_seen *ask, const struct agent_request *request)
{
    if (ask->given_at && ask->given_at < request->sent_at && world.hub_ended_at < ask->given_at &&
        !request->has_state)
        observer_break("P8", "%.8s was given to a client, and is given to its later call", ask->id);
    if (!ask->given_at && world.hub_ended_at < request->sent_at && !request->is_unconfirmed)
        ask->given_at = world.step;
    ask->is_confirming = true;
}

static void take_result(int principal, const struct cable *cable, struct agent_request *request,
                        const struct json *result, const char *line)
{
    const char *id = json_member_text(result, "session_id");
    enum end_seen ending = read_ending(result);
    struct ask_seen *ask;

    if (is_asking(request) && id)
        see_created(principal, request, id, 0);
    ask = observer_find(id);
    if (!ask)
        return;
    if (ending == END_NONE && ask->ending != END_NONE && ask->ended_at < request->sent_at &&
        !json_member(result, "input_required"))
        observer_break("P1", "%.8s was over for the agent, and is open again", ask->id);
    if (ending == END_NONE)
        return;
    take_ending(ask, ending, line);
    if (strcmp(request->method, "tools/call") == 0)
        check_front(ask, request);
    else if (strcmp(request->method, "mine/get") != 0)
        ask->hands = cable;
}

/* A result that crossed the cancellation of its call: its front has confirmed it. */
static void take_unasked(const struct json *result)
{
    const struct json *content = json_member(result, "structuredContent");
    struct ask_seen *ask = observer_find(json_member_text(content, "session_id"));

    if (ask && read_ending(content) != END_NONE)
        ask->is_confirming = true;
}

/* The form or the text beside it has options too: only the result is looked at. */
static void take_inner(int principal, const struct cable *cable, struct agent_request *request,
                       const struct json *result)
{
    char *line = result ? json_encode(result) : NULL;

    if (result)
        take_result(principal, cable, request, result, line);
    else if (world.closing_at && request->sent_at > world.closing_at && winner_of(request->ask))
        observer_break("P1", "%.8s: N%d was acknowledged, and is not there", request->ask->id,
                       winner_of(request->ask)->nonce);
    free(line);
}

/* An agent's withdrawal was refused. */
static void take_kept(struct ask_seen *ask)
{
    ask->is_withdrawing = ask->is_withdrawn || --ask->withdrawals > 0;
    ask->changed_at = world.step;
}

static void take_refusal(int principal, const struct agent_request *request,
                         const struct json *error)
{
    const char *code = json_member_text(json_member(error, "data"), "code");
    const struct ask_seen *ask = request->ask;

    if (ask && ask->principal == principal && !ask->may_be_lost && code &&
        strcmp(code, "not_found") == 0 && strcmp(request->method, "ask/delivered") != 0)
        observer_break("P5", "%.8s was there, and is not known any more", ask->id);
    if (strcmp(request->method, "ask/create") == 0 && !request->has_state &&
        (!code || strcmp(code, "rate_limited") != 0))
        observer_break("wire", "a call that is in order was refused: %s", code ? code : "?");
}

void observer_on_agent_line(int principal, const struct cable *cable, struct agent_request *request,
                            const char *line, const struct json *json)
{
    const struct json *result = json_member(json, "result");
    const struct json *params = json_member(json, "params");
    bool is_created = json_member_text(json, "method") &&
                      strcmp(json_member_text(json, "method"), "ask/created") == 0;

    check_words(principal, line);
    if (!request) {
        take_unasked(result);
        return;
    }
    if (is_asking(request) && !request->is_heard && !json_is_true(json_member(result, "isError"))) {
        observer.unheard[principal][request->call]--;
        request->is_heard = true; /* a front that gave up does not know what the hub made of it */
    }
    if (is_created) {
        see_created(principal, request, json_member_text(params, "session_id"),
                    json_member_integer(params, "remaining_ms", 0));
        return;
    }
    if (!result) {
        take_refusal(principal, request, json_member(json, "error"));
        if (request->ask && strcmp(request->method, "ask/withdraw") == 0)
            take_kept(request->ask);
        return;
    }
    if (strcmp(request->method, "ask/delivered") == 0 && request->ask)
        request->ask->confirmed_at = world.step;
    else if (strcmp(request->method, "ask/withdraw") == 0 && request->ask)
        request->ask->is_withdrawn = true;
    else if (strcmp(request->method, "tools/call") == 0)
        take_inner(principal, NULL, request, json_member(result, "structuredContent"));
    else if (strcmp(request->method, "mine/get") == 0)
        take_inner(principal, cable, request, json_member(result, "result"));
    else if (strcmp(request->method, "ask/create") == 0 || strcmp(request->method, "ask/wait") == 0)
        take_result(principal, cable, request, result, line);
}

/* --- people --- */

struct act_seen *observer_on_act(struct ask_seen *ask, enum act_kind kind)
{
    struct act_seen *act;

    if (observer.act_count == ACTS_MAX)
        return NULL;
    act = &observer.acts[observer.act_count++];
    *act = (struct act_seen){ .nonce = ++world.nonce, .ask = ask, .kind = kind };
    return act;
}

static void acknowledge(struct act_seen *act, const struct json *result)
{
    struct ask_seen *ask = act->ask;
    const struct act_seen *before = winner_of(ask);

    if (act->fate == FATE_ACKNOWLEDGED)
        return; /* said again, or read late: it may have been taken back since */
    if (before && before != act)
        observer_break("P3", "%.8s: N%d and N%d were both acknowledged", ask->id, before->nonce,
                       act->nonce);
    if (ask->ending != END_NONE && ask->nonce != act->nonce)
        observer_break("P1", "%.8s: N%d was acknowledged, the agent has another ending (N%d)",
                       ask->id, act->nonce, ask->nonce);
    act->fate = FATE_ACKNOWLEDGED;
    act->acknowledged_at = world.step;
    act->acknowledged_ms = times.boot_ms;
    act->undo_ms = json_member_integer(result, "undo_ms", 0);
    ask->may_be_lost = false; /* it was synced with its answer */
}

/* A refusal counts only for an act that was sent once: of two tries the other may have won. */
void observer_on_acted(struct act_seen *act, const struct json *json)
{
    const struct json *result = json_member(json, "result");

    if (result)
        acknowledge(act, result);
    else if (act->tries == 1 && !act->is_told)
        act->fate = FATE_REFUSED;
    act->ask->changed_at = world.step;
}

void observer_on_undoing(struct act_seen *act)
{
    act->is_undoing = true;
    act->ask->is_retimed = true;
}

void observer_on_undone(struct act_seen *act, bool is_done)
{
    if (is_done && act->is_told)
        observer_break("P1", "N%d was taken back, and the agent has it", act->nonce);
    act->is_undone = is_done;
    act->is_undoing = is_done;
    act->ask->changed_at = world.step;
}

void observer_on_retiming(struct ask_seen *ask, int64_t ms)
{
    ask->is_retimed = true;
    ask->is_contested = ask->retimes_open++ > 0;
    if (times.boot_ms + ms < ask->ends_from_ms)
        ask->ends_from_ms = times.boot_ms + ms;
}

void observer_on_retimed(struct ask_seen *ask, int64_t sent_ms, int64_t ms, bool is_done)
{
    /* Of several at the same time it is unknown which was the last. */
    if (--ask->retimes_open == 0 && is_done && !ask->is_contested)
        ask->ends_from_ms = sent_ms + ms;
}

static void see_listed(const struct json *item, int64_t sent_ms, bool is_last)
{
    const char *title = json_member_text(item, "title");
    int64_t left_s = json_member_integer(item, "remaining_seconds", -1);
    const char *at = title ? strchr(title, 'A') : NULL;
    struct ask_seen *ask;
    int principal, call;

    if (!at || sscanf(at, "A%dC%d", &principal, &call) != 2)
        return;
    ask = find_or_add(json_member_text(item, "session_id"), principal, call);
    if (!ask)
        return;
    see_deadline(ask, sent_ms - 1000, left_s * 1000); /* seconds are rounded up */
    if (is_last && ask->ends_to_ms + GRACE_MS < sent_ms && !ask->is_retimed)
        observer_break("P6", "%.8s is open %lld ms after its deadline", ask->id,
                       (long long)(sent_ms - ask->ends_to_ms));
}

static bool is_listed(const struct json *asks, const struct ask_seen *ask)
{
    for (size_t i = 0; i < json_length(asks); i++) {
        const char *id = json_member_text(json_item(asks, i), "session_id");

        if (id && strcmp(id, ask->id) == 0)
            return true;
    }
    return false;
}

static void check_listed(const struct json *asks, long sent_at)
{
    for (size_t i = 0; i < observer.ask_count; i++) {
        const struct ask_seen *ask = &observer.asks[i];

        if (ask->changed_at < sent_at && !ask->may_be_lost && !may_be_decided(ask) &&
            ask->ending == END_NONE && ask->ends_from_ms > times.boot_ms && !is_listed(asks, ask))
            observer_break("P5", "%.8s is open, and not in the list of what is", ask->id);
    }
}

/* The same call of one agent, open twice. */
static void check_once(const struct json *asks)
{
    int open[AGENTS_MAX][CALLS] = { 0 };

    for (size_t i = 0; i < json_length(asks); i++) {
        const struct ask_seen *ask =
            observer_find(json_member_text(json_item(asks, i), "session_id"));

        if (ask && ++open[ask->principal][ask->call] > 1 && !observer.is_shared[ask->principal])
            observer_break("P9", "agent %d asked once, and is shown twice: %.8s", ask->principal,
                           ask->id);
    }
}

void observer_on_list(const struct json *asks, long sent_at, int64_t sent_ms, bool is_last)
{
    for (size_t i = 0; i < json_length(asks); i++)
        see_listed(json_item(asks, i), sent_ms, is_last);
    check_listed(asks, sent_at);
    check_once(asks);
}

int64_t observer_next_late_ms(void)
{
    int64_t next_ms = -1;

    for (size_t i = 0; i < observer.ask_count; i++) {
        const struct ask_seen *ask = &observer.asks[i];
        int64_t late_ms = ask->ends_to_ms + GRACE_MS + 1;

        if (ask->ending == END_NONE && !ask->is_retimed && !may_be_decided(ask) &&
            late_ms > times.boot_ms && (next_ms < 0 || late_ms < next_ms))
            next_ms = late_ms;
    }
    return next_ms;
}

bool observer_has_confirmed(void)
{
    for (size_t i = 0; i < observer.ask_count; i++) {
        if (observer.asks[i].confirmed_at)
            return true;
    }
    return false;
}

/* What was acknowledged to a person is on disk; what only agents were told may be gone. */
void observer_on_power_cut(void)
{
    for (size_t i = 0; i < observer.ask_count; i++) {
        struct ask_seen *ask = &observer.asks[i];
        const struct act_seen *winner = winner_of(ask);

        ask->may_be_lost = ask->may_be_lost || !winner;
        ask->confirmed_at = 0;
        if (!winner) {
            ask->ending = END_NONE;
            ask->is_withdrawn = false;
        }
    }
}

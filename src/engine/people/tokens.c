#include "engine/people/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "engine/describe.h"
#include "engine/state.h"
#include "i18n/i18n.h"

static const int64_t USED_EVERY_MS = 3600000;

/* May miss */
static struct token *token_find(const struct engine *engine, const uint8_t *hash)
{
    struct table_link *link = table_find(&engine->tokens, hash);

    return link ? TABLE_THING(token, link, link) : NULL;
}

static bool token_is_expired(const struct engine *engine, const struct token *token)
{
    return token->expires_ms > 0 && engine_utc_ms(engine) >= token->expires_ms;
}

/* All of them, in no order: begins with NULL, ends with NULL. */
static struct token *token_each(const struct engine *engine, const struct token *after)
{
    struct table_link *link = table_each(&engine->tokens, after ? &after->link : NULL);

    return link ? TABLE_THING(token, link, link) : NULL;
}

struct token *token_find_id(const struct engine *engine, const char *id)
{
    for (struct token *token = NULL; (token = token_each(engine, token));) {
        if (strcmp(token->id, id) == 0 && !token_is_expired(engine, token))
            return token;
    }
    return NULL;
}

static void token_free(struct token *token)
{
    free(token->kind);
    free(token->label);
    free(token->browser);
    free(token);
}

static void on_used(void *context, const struct store_reply *reply)
{
    (void)context;
    if (reply->outcome == STORE_FAILED)
        log_warning("token.use", "not kept: %s", error_name(reply->err.code));
}

/* A clock that was set back counts too. */
void token_use(struct engine *engine, struct token *token)
{
    int64_t now_ms = engine_utc_ms(engine);
    struct store_token_use use = { .now_ms = now_ms };

    if (now_ms >= token->used_ms && now_ms - token->used_ms < USED_EVERY_MS)
        return;
    token->used_ms = now_ms;
    memcpy(use.hash, token->hash, sizeof use.hash);
    store_write_token_use(engine->parts.store, &use, on_used, NULL);
}

static void set_alarm_for(struct engine *engine, const struct token *token)
{
    int64_t boot_ms = engine_boot_ms(engine) + token->expires_ms - engine_utc_ms(engine);

    if (token->expires_ms > 0 && !token->is_over &&
        (!engine->tokens_alarm.place || engine->tokens_alarm.boot_ms > boot_ms))
        alarm_set(&engine->alarms, &engine->tokens_alarm, boot_ms);
}

static void send_away(struct engine *engine, const struct token *token)
{
    if (engine->parts.on_revoked)
        engine->parts.on_revoked(engine->parts.context, token->hash);
}

/* Clients that came with a token stay no longer than it lives. */
void tokens_on_alarm(struct engine *engine, struct alarm *alarm)
{
    (void)alarm;
    for (struct token *token = NULL; (token = token_each(engine, token));) {
        if (token_is_expired(engine, token) && !token->is_over) {
            token->is_over = true;
            send_away(engine, token);
        }
        set_alarm_for(engine, token);
    }
}

static void take_up(void *context, const struct store_token *stored)
{
    struct engine *engine = context;
    struct token *token;

    if (strcmp(stored->kind, "code") == 0)
        return; /* portal.c knows what to do with it: it opens nothing here */
    token = mem_new(sizeof *token);
    memcpy(token->hash, stored->hash, HASH_BYTES);
    token_id(token->hash, token->id);
    token->kind = mem_text(stored->kind);
    token->label = mem_text(stored->label);
    token->browser = mem_text(stored->browser);
    token->is_sub_agent = stored->is_sub_agent;
    token->may_answer = stored->may_answer;
    token->created_ms = stored->created_ms;
    token->expires_ms = stored->expires_ms;
    token->used_ms = stored->used_ms;
    token->is_found = true;
    table_insert(&engine->tokens, &token->link);
    set_alarm_for(engine, token);
}

void tokens_load(struct engine *engine)
{
    struct store *store = engine->parts.store;

    engine->tokens = TABLE_OF(token, link, hash);
    store->ops->list_tokens(store, take_up, engine);
}

/* Clients that came with it are sent away. */
static void tokens_remove(struct engine *engine, struct token *token)
{
    table_remove(&engine->tokens, &token->link);
    send_away(engine, token);
    token_free(token);
}

/* Found again in the store; those it has no more were revoked. */
static void look_again(void *context, const struct store_token *stored)
{
    struct engine *engine = context;
    struct token *token = token_find(engine, stored->hash);

    if (!token) {
        take_up(engine, stored);
        return;
    }
    token->is_found = true;
    if (stored->used_ms > token->used_ms)
        token->used_ms = stored->used_ms;
}

void tokens_reload(struct engine *engine)
{
    struct store *store = engine->parts.store;
    for (struct token *token = NULL; (token = token_each(engine, token));)
        token->is_found = false;
    store->ops->list_tokens(store, look_again, engine);
    for (struct token *token = token_each(engine, NULL), *next; token; token = next) {
        next = token_each(engine, token);
        if (!token->is_found)
            tokens_remove(engine, token);
    }
}

void tokens_release(struct engine *engine)
{
    for (struct token *token = token_each(engine, NULL), *next; token; token = next) {
        next = token_each(engine, token);
        token_free(token);
    }
    table_release(&engine->tokens);
}

/* A clock tells nothing here: what is compared is the hash of what was sent. */
bool engine_find_token(struct engine *engine, const uint8_t *hash, struct engine_token *ret_token)
{
    struct token *token = token_find(engine, hash);

    if (!token || token->browser || token_is_expired(engine, token))
        return false;
    token_use(engine, token);
    *ret_token = (struct engine_token){
        .kind = token->kind,
        .label = token->label,
        .is_sub_agent = token->is_sub_agent,
        .may_answer = token->may_answer,
    };
    memcpy(ret_token->id, token->id, sizeof ret_token->id);
    return true;
}

bool engine_prove_token(const struct engine *engine, const char *id, const char *text,
                        struct text *out)
{
    const struct token *token = token_find_id(engine, id);
    uint8_t proof[HASH_BYTES];
    char hex[HASH_HEX_BYTES];

    if (!token)
        return false;
    hash_keyed(token->hash, text, strlen(text), proof);
    hash_hex(proof, sizeof proof, hex);
    text_add_text(out, hex);
    return true;
}

/* Tokens made, listed and revoked by people, and those of their browsers' tabs. The secret is shown
 * once and is nowhere afterwards. */

enum {
    TOKENS_MAX = 1000,
    TOKENS_LABEL_BYTES = 128,
    TOKENS_MAX_DAYS = 3650,
    TOKENS_TABS = 64,
    TOKENS_TAB_DAYS = 30,
};
static const int64_t DAY_MS = 86400000;

/* What a person may make here; the rest is made by the hub itself. */
static const struct {
    const char *kind;
    char letter;
} kinds[] = { { "agent", 'a' }, { "person", 'p' }, { "host", 'h' } };

/* A client that came with it is here right now. */
static bool is_connected(const struct engine *engine, const struct token *token)
{
    for (const struct session *session = engine->sessions; session; session = session->next)
        if (session->token_id && strcmp(session->token_id, token->id) == 0)
            return true;
    return false;
}

static void write_token(const struct engine *engine, const struct token *token, const char *secret,
                        struct json_writer *writer)
{
    bool is_here = is_connected(engine, token);

    json_write_object(writer, NULL);
    json_write_text(writer, "id", token->id);
    json_write_text(writer, "kind", token->kind);
    json_write_text(writer, "label", token->label);
    json_write_bool_if(writer, "sub_agent", token->is_sub_agent);
    json_write_bool_if(writer, "may_answer", token->may_answer);
    describe_time(writer, "created_at", token->created_ms);
    describe_time(writer, "expires_at", token->expires_ms);
    describe_time(writer, "used_at", is_here ? engine_utc_ms(engine) : token->used_ms);
    json_write_bool(writer, "expired", token_is_expired(engine, token));
    json_write_bool_if(writer, "connected", is_here);
    json_write_text_if(writer, token->browser ? "proof_key" : "token", secret);
    json_write_end_object(writer);
}

struct token_operation {
    struct operation operation; /* first */
    struct store_token token;
    char *browser;               /* and the text of the operation is the label */
    char secret[HASH_HEX_BYTES]; /* or, of a device, its proof key */
    uint8_t hash[HASH_BYTES];    /* of the one to revoke, */
    struct text said;            /* and what is said of it */
};

static void token_operation_drop(struct operation *operation)
{
    struct token_operation *own = (struct token_operation *)operation;

    explicit_bzero(own->secret, sizeof own->secret);
    free(own->browser);
    text_release(&own->said);
}

static void on_saved(void *context, const struct store_reply *reply)
{
    struct token_operation *own = context;
    struct engine *engine = own->operation.engine;
    struct text out = { 0 };
    struct json_writer writer = json_writer_to(&out);

    if (operation_fails(&own->operation, reply))
        return;
    if (!token_find(engine, own->token.hash)) /* news of it may have come first */
        take_up(engine, &own->token);
    write_token(engine, token_find(engine, own->token.hash), own->secret, &writer);
    operation_ok(&own->operation, text_string(&out));
    explicit_bzero(out.bytes, out.used);
    text_release(&out);
}

static bool read_kind(const struct json *params, struct token_operation *own, struct error *err)
{
    const char *kind = json_member_text(params, "kind");
    size_t at = 0;

    while (kind && at < ARRAY_LEN(kinds) && strcmp(kinds[at].kind, kind) != 0)
        at++;
    if (at == ARRAY_LEN(kinds) || (!kind && json_member(params, "kind")))
        return error_say(err, ERROR_bad_enum, "/kind", TEXT_REASON_TOKEN_KIND, NULL);
    own->token.kind = kinds[at].kind; /* the first, where it is left out */
    own->token.is_sub_agent = json_is_true(json_member(params, "sub_agent"));
    own->token.may_answer = json_is_true(json_member(params, "may_answer"));
    token_make(kinds[at].letter, own->secret);
    if (own->token.is_sub_agent && strcmp(own->token.kind, "person") == 0)
        return error_say(err, ERROR_conflicting_arguments, "/sub_agent",
                         TEXT_REASON_TOKEN_SUB_AGENT, NULL);
    if (own->token.may_answer && strcmp(own->token.kind, "host") != 0)
        return error_say(err, ERROR_conflicting_arguments, "/may_answer",
                         TEXT_REASON_TOKEN_MAY_ANSWER, NULL);
    return true;
}

static bool read_label(const struct json *params, struct token_operation *own, struct error *err)
{
    const struct json *given = json_member(params, "label");
    const char *label = given ? json_text(given) : own->token.kind;

    if (!label)
        return error_say(err, ERROR_bad_type, "/label", TEXT_REASON_LABEL_TEXT, NULL);
    if (given && strlen(label) != json_length(given))
        return error_say(err, ERROR_nul_character, "/label", TEXT_REASON_LABEL_NUL, NULL);
    if (!label[0])
        return error_say(err, ERROR_empty_text, "/label", TEXT_REASON_LABEL_EMPTY, NULL);
    if (strlen(label) > TOKENS_LABEL_BYTES)
        return error_say(err, ERROR_too_long, "/label", TEXT_REASON_LABEL_LONG, "most",
                         TEXT_NUMBER(TOKENS_LABEL_BYTES), NULL);
    own->operation.text = mem_text(label);
    own->token.label = own->operation.text;
    return true;
}

static bool read_new(const struct json *params, struct token_operation *own, struct error *err)
{
    const struct engine *engine = own->operation.engine;
    const struct json *days = json_member(params, "expires_days");
    int64_t number = 0;

    if (engine->tokens.count >= TOKENS_MAX)
        return error_say(err, ERROR_wrong_state, "", TEXT_REASON_TOKEN_MANY, "count",
                         TEXT_NUMBER(TOKENS_MAX), NULL);
    if (days && (!json_integer_of(days, &number) || number < 1 || number > TOKENS_MAX_DAYS))
        return error_say(err, ERROR_out_of_range, "/expires_days", TEXT_REASON_TOKEN_DAYS, "most",
                         TEXT_NUMBER(TOKENS_MAX_DAYS), NULL);
    if (!read_kind(params, own, err) || !read_label(params, own, err))
        return false;
    own->token.created_ms = engine_utc_ms(engine);
    own->token.expires_ms = days ? own->token.created_ms + number * DAY_MS : 0;
    token_hash(own->secret, own->token.hash);
    return true;
}

static struct token_operation *begin(struct method_call call)
{
    struct token_operation *own = operation_new(sizeof *own, call);

    own->operation.drop = token_operation_drop;
    return own;
}

void token_new_method(struct method_call call)
{
    struct token_operation *own = begin(call);
    struct error err;

    if (!operation_may(&own->operation, read_new(call.params, own, &err), &err))
        return;
    operation_begin_write(&own->operation);
    store_write_token(call.engine->parts.store, &own->token, on_saved, own);
}

static void on_revoked(void *context, const struct store_reply *reply)
{
    struct token_operation *own = context;
    struct engine *engine = own->operation.engine;
    struct token *token = token_find(engine, own->hash);

    if (operation_fails(&own->operation, reply))
        return;
    if (token) /* else news of it came first */
        tokens_remove(engine, token);
    if (reply->outcome == STORE_DONE)
        operation_ok(&own->operation, text_string(&own->said));
    else /* two revoked it at the same time: the other was told */
        operation_say(&own->operation, ERROR_not_found, "/id", TEXT_REASON_TOKEN_REVOKED, NULL);
}

static void revoke(struct token_operation *own, const struct token *token)
{
    struct engine *engine = own->operation.engine;
    struct json_writer writer = json_writer_to(&own->said);
    struct store_token_use revoked = { .now_ms = engine_utc_ms(engine) };

    write_token(engine, token, NULL, &writer);
    memcpy(own->hash, token->hash, HASH_BYTES);
    memcpy(revoked.hash, token->hash, HASH_BYTES);
    operation_begin_write(&own->operation);
    store_write_token_revoke(engine->parts.store, &revoked, on_revoked, own);
}

/* Tabs come and go, and people do not sign out: those that signed in first make room. */
static void make_room_for_tab(struct engine *engine)
{
    const struct token *oldest = NULL;
    size_t count = 0;

    for (struct token *token = NULL; (token = token_each(engine, token));) {
        if (strcmp(token->kind, "tab") != 0 && !token->browser)
            continue;
        count++;
        if (!oldest || token->created_ms < oldest->created_ms)
            oldest = token;
    }
    if (count >= TOKENS_TABS)
        revoke(begin((struct method_call){ .engine = engine }), oldest);
}

void tokens_add_tab(struct method_call call, const char *label, const char *browser)
{
    struct engine *engine = call.engine;
    struct token_operation *own = begin(call);
    struct store_token *token = &own->token;

    make_room_for_tab(engine);
    own->operation.text = mem_text(label);
    own->browser = mem_text(browser);
    token->label = own->operation.text;
    token->browser = own->browser;
    token->kind = browser ? "device" : "tab";
    token->created_ms = token->used_ms = engine_utc_ms(engine);
    token->expires_ms = token->created_ms + TOKENS_TAB_DAYS * DAY_MS;
    if (browser) { /* no secret has this hash, so no connection can use it */
        random_bytes(token->hash, sizeof token->hash);
        hash_hex(token->hash, sizeof token->hash, own->secret);
    } else {
        token_make('t', own->secret);
        token_hash(own->secret, token->hash);
    }
    operation_begin_write(&own->operation);
    store_write_token(engine->parts.store, token, on_saved, own);
}

static int by_age(const void *a, const void *b)
{
    const struct token *const *first = a, *const *second = b;

    if ((*first)->created_ms != (*second)->created_ms)
        return (*first)->created_ms < (*second)->created_ms ? -1 : 1;
    return strcmp((*first)->id, (*second)->id);
}

void token_list_method(struct method_call call)
{
    struct engine *engine = call.engine;
    struct token **sorted = mem_new((engine->tokens.count + 1) * sizeof(struct token *));
    struct writing *writing = writing_new(sizeof *writing, call);
    size_t count = 0;

    for (struct token *token = NULL; (token = token_each(engine, token));)
        sorted[count++] = token;
    qsort(sorted, count, sizeof(struct token *), by_age);
    json_write_list(&writing->writer, "tokens");
    for (size_t i = 0; i < count; i++)
        write_token(engine, sorted[i], NULL, &writing->writer);
    json_write_end_list(&writing->writer);
    writing_end(writing);
    free(sorted);
}

/* The one token whose id begins so. */
static const struct token *find_by_id(const struct engine *engine, const char *id,
                                      struct error *err)
{
    static const struct named_by_prefix words = { TEXT_REASON_TOKEN_SEVERAL,
                                                  TEXT_REASON_TOKEN_NONE };
    const struct token *found = NULL;
    size_t count = 0;

    for (struct token *token = NULL; (token = token_each(engine, token));) {
        if (id_begins(token->id, id)) {
            found = token;
            count++;
        }
    }
    return id_is_one(id, count, &words, err) ? found : NULL;
}

void token_revoke_method(struct method_call call)
{
    struct token_operation *own = begin(call);
    struct error err;
    const struct token *token = find_by_id(call.engine, json_member_text(call.params, "id"), &err);

    if (token)
        revoke(own, token);
    else
        operation_fail(&own->operation, &err, NULL);
}

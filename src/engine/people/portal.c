/*
 * portal.c - the way into the portal (R12.2): addresses of asks, which anybody may see, and
 * one-time codes with which a browser becomes a tab that is signed in. Only the hash of a code is
 * kept, and only here: a hub that ends takes its codes with it. Where hubs share the store any of
 * them may be shown it: there it is a token of its own kind, which opens nothing else and which
 * the first who shows it revokes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/random.h"
#include "base/text.h"
#include "core/ownership.h"
#include "engine/engine.h"
#include "engine/people/tokens.h"
#include "engine/state.h"
#include "i18n/i18n.h"

/* Browsers that stay signed in (R12.2). A device has no secret: its browser keeps a key that no
 * page can read, and signs what the hub challenges it with. The key counts at the port where it was
 * enrolled. Another user of this machine could hold that port while no hub runs and be given the
 * same use of the key, so unless a setting says otherwise there must be no other user. */

enum { ACCOUNTS_BYTES = 1048576, SIGNED_BYTES = 128 };

static bool device_may_stay(const struct engine *engine)
{
    static const char *const paths[] = { "/etc/login.defs", "/etc/nsswitch.conf", "/etc/passwd" };
    int64_t wish = engine_setting(engine, SETTING_KEEP_SIGNED_IN);
    struct text files[ARRAY_LEN(paths)] = { 0 };
    bool may = wish == KEEP_SIGNED_IN_AUTO;

    for (size_t i = 0; may && i < ARRAY_LEN(paths); i++)
        may = os_read_file(paths[i], ACCOUNTS_BYTES, &files[i], NULL);
    may =
        may && sole_user_is(&(struct account_files){ text_string(&files[0]), text_string(&files[1]),
                                                     text_string(&files[2]) },
                            engine->parts.uid);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        text_release(&files[i]);
    return may || wish == KEEP_SIGNED_IN_ON;
}

bool engine_know_device(struct engine *engine, const struct device_proof *shown,
                        struct engine_token *ret_token)
{
    static const char form[] = "sayso browser %d %s"; /* not for people */
    struct token *token = token_find_id(engine, shown->id);
    char text[SIGNED_BYTES], port[16];
    size_t length = (size_t)snprintf(port, sizeof port, "%d ", shown->port);

    snprintf(text, sizeof text, form, shown->port, shown->challenge);
    if (!token || !token->browser || strncmp(token->browser, port, length) != 0 ||
        !device_may_stay(engine) ||
        !signature_is_good(token->browser + length, shown->signature, text))
        return false;
    token_use(engine, token);
    *ret_token = (struct engine_token){ .kind = token->kind, .label = token->label };
    memcpy(ret_token->id, token->id, sizeof ret_token->id);
    return true;
}

enum { PORTAL_CODE_S = 60 };
static const int64_t OPEN_EVERY_MS = 10000;
#define PORTAL_CODE_KIND  "code"
#define PORTAL_CODE_START "sayso_c_"

void engine_set_portal(struct engine *engine, const char *url)
{
    snprintf(engine->portal_url, sizeof engine->portal_url, "%s", url);
}

void engine_set_public_url(struct engine *engine, const char *url)
{
    snprintf(engine->public_url, sizeof engine->public_url, "%s", url);
}

/* `base`: what others call the hub, but codes are good on this machine alone. */
static bool write_address(const struct engine *engine, const char *base, const char *id,
                          struct text *out)
{
    if (!engine->portal_url[0] || !settings_is_on(engine->parts.settings, SETTING_PORTAL))
        return false;
    text_add_text(out, base);
    text_add_text(out, id[0] ? "/choice/" : "/");
    text_add_text(out, id);
    return true;
}

bool portal_write_url(const struct engine *engine, const char *id, struct text *out)
{
    return write_address(engine, engine->public_url[0] ? engine->public_url : engine->portal_url,
                         id, out);
}

/* A free place, one that is out of time, or the oldest. */
static struct portal_code *find_place(struct engine *engine)
{
    struct portal_code *oldest = &engine->codes[0];

    for (size_t i = 1; i < PORTAL_CODES; i++)
        if (engine->codes[i].until_boot_ms < oldest->until_boot_ms)
            oldest = &engine->codes[i];
    return oldest;
}

struct sharing {
    struct operation operation; /* first */
    struct operation *waits;    /* for the code to be kept; NULL: none */
    struct text reply;
};

static void sharing_drop(struct operation *operation)
{
    struct sharing *sharing = (struct sharing *)operation;

    if (sharing->reply.used)
        explicit_bzero(sharing->reply.bytes, sharing->reply.used);
    text_release(&sharing->reply);
}

static void on_shared(void *context, const struct store_reply *reply)
{
    struct sharing *sharing = context;

    if (reply->outcome != STORE_DONE)
        log_warning("portal.code", "not kept: %s", error_name(reply->err.code));
    if (sharing->waits && reply->outcome != STORE_DONE)
        operation_fail(sharing->waits, &reply->err, NULL);
    else if (sharing->waits)
        operation_ok(sharing->waits, text_string(&sharing->reply));
    operation_end(&sharing->operation);
}

/* `waits` gets the reply once every hub can know the code; then it ends. */
static void share_code(struct engine *engine, const uint8_t hash[HASH_BYTES],
                       struct operation *waits, struct text *take_reply)
{
    struct store_token token = { .kind = PORTAL_CODE_KIND,
                                 .label = "",
                                 .created_ms = engine_utc_ms(engine) };
    struct sharing *sharing = operation_of_ours(sizeof *sharing, engine, NULL);

    sharing->operation.drop = sharing_drop;
    sharing->waits = waits;
    if (take_reply)
        sharing->reply = *take_reply;
    memcpy(token.hash, hash, HASH_BYTES);
    token.expires_ms = token.created_ms + (int64_t)PORTAL_CODE_S * 1000;
    operation_begin_write(&sharing->operation);
    store_write_token(engine->parts.store, &token, on_shared, sharing);
}

/* In the fragment of the address, which a browser never sends. */
static void write_code(struct engine *engine, struct text *url, uint8_t ret_hash[HASH_BYTES])
{
    struct portal_code *code = find_place(engine);
    char secret[TOKEN_BYTES];

    token_make('c', secret);
    token_hash(secret, code->hash);
    code->until_boot_ms = engine_boot_ms(engine) + (int64_t)PORTAL_CODE_S * 1000;
    memcpy(ret_hash, code->hash, HASH_BYTES);
    if (follow_is_shared(engine))
        code->until_boot_ms = 0;
    text_add_format(url, "#code=%s", secret);
    explicit_bzero(secret, sizeof secret);
}

static void add_code(struct engine *engine, struct text *url)
{
    uint8_t hash[HASH_BYTES];

    write_code(engine, url, hash);
    if (follow_is_shared(engine))
        share_code(engine, hash, NULL, NULL);
}

bool engine_make_link(struct engine *engine, struct text *out)
{
    if (!write_address(engine, engine->portal_url, "", out))
        return false;
    add_code(engine, out);
    return true;
}

static void reply_link(struct operation *operation)
{
    struct text url = { 0 }, out = { 0 };
    struct json_writer writer = json_writer_to(&out);
    uint8_t hash[HASH_BYTES];

    if (!write_address(operation->engine, operation->engine->portal_url, operation->id, &url)) {
        operation_say(operation, ERROR_unavailable, "", TEXT_REASON_NO_PORTAL, NULL);
        return;
    }
    json_write_object(&writer, NULL);
    json_write_text(&writer, "url", text_string(&url));
    write_code(operation->engine, &url, hash);
    json_write_text(&writer, "link", text_string(&url));
    json_write_integer(&writer, "seconds", PORTAL_CODE_S);
    json_write_end_object(&writer);
    explicit_bzero(url.bytes, url.used);
    text_release(&url);
    if (follow_is_shared(operation->engine)) {
        share_code(operation->engine, hash, operation, &out);
        return;
    }
    operation_ok(operation, text_string(&out));
    explicit_bzero(out.bytes, out.used);
    text_release(&out);
}

void portal_link_method(struct method_call call)
{
    struct operation *operation = operation_new(sizeof *operation, call);

    if (json_member(call.params, "session_id"))
        operation_find_ask(operation, call.params, reply_link);
    else
        reply_link(operation);
}

static bool can_open(const struct engine *engine, const char *id, struct text *ret_url)
{
    return engine->parts.open_browser && settings_is_on(engine->parts.settings, SETTING_BROWSER) &&
           write_address(engine, engine->portal_url, id, ret_url);
}

static bool open_link(struct engine *engine, struct text *url)
{
    bool is_opened;

    add_code(engine, url);
    engine->browser_boot_ms = engine_boot_ms(engine);
    is_opened = engine->parts.open_browser(engine->parts.context, text_string(url));
    explicit_bzero(url->bytes, url->used);
    return is_opened;
}

/* A new window is as loud as it gets: not while the person wants quiet. */
void portal_open(struct engine *engine, const char *id)
{
    struct text url = { 0 };

    if (!settings_is_on(engine->parts.settings, SETTING_DO_NOT_DISTURB) &&
        can_open(engine, id, &url))
        open_link(engine, &url);
    text_release(&url);
}

/* Whom a window may be opened for. Who can't be told may be a browser on another machine, behind a
 * relay: it learns nothing. */
static bool may_open(struct engine *engine, struct session *session, struct error *err)
{
    own_find_process(session);
    if (session->uid > 0 && session->uid != engine->parts.uid)
        return error_set(err, ERROR_not_allowed, "", "this portal is another user's");
    if (session->pid < 0)
        return error_set(err, ERROR_not_allowed, "", "the page that asked is gone");
    return own_may_govern(engine, session, err);
}

/* For a page that isn't signed in. The link goes to the browser that the hub starts, never to the
 * page, which may be anybody's. */
void portal_open_method(struct method_call call)
{
    struct engine *engine = call.engine;
    struct operation *operation = operation_new(sizeof *operation, call);
    int64_t wait_ms = engine->asked_open_boot_ms + OPEN_EVERY_MS - engine_boot_ms(engine);
    const char *given = json_member_text(call.params, "session_id");
    bool is_id = given && ask_id_is_valid(given);
    struct text url = { 0 };
    struct error err;
    bool may = may_open(engine, operation->session, &err);
    bool can = can_open(engine, is_id ? given : "", &url) &&
               engine->parts.open_browser(engine->parts.context, NULL);

    if (json_is_true(json_member(call.params, "only_look"))) {
        operation_ok(operation, may && can ? "{\"can_open\":true}" : "{\"can_open\":false}");
    } else if (!may) {
        operation_fail(operation, &err, NULL);
    } else if (can && engine->asked_open_boot_ms && wait_ms > 0) {
        operation_refuse(operation, ERROR_rate_limited, "", "a link was opened a moment ago");
    } else {
        engine->asked_open_boot_ms = engine_boot_ms(engine);
        if (can && open_link(engine, &url))
            operation_ok(operation, "{\"opened\":true}");
        else
            operation_refuse(operation, ERROR_unavailable, "",
                             "the hub can't open a browser here: run sayso open");
    }
    text_release(&url);
}

int64_t portal_since_browser_ms(const struct engine *engine)
{
    return engine->browser_boot_ms ? engine_boot_ms(engine) - engine->browser_boot_ms : -1;
}

/* Found or not, whatever was shown is no code afterwards. */
static bool spend(struct engine *engine, const char *secret)
{
    uint8_t hash[HASH_BYTES];
    bool is_good = false;

    token_hash(secret, hash);
    for (size_t i = 0; i < PORTAL_CODES; i++) {
        struct portal_code *code = &engine->codes[i];

        if (code->until_boot_ms == 0 || !hash_same(code->hash, hash, HASH_BYTES))
            continue;
        is_good = engine_boot_ms(engine) < code->until_boot_ms;
        *code = (struct portal_code){ 0 };
    }
    return is_good;
}

struct signing {
    struct operation operation; /* first; its text is the label */
    char *browser;
    uint8_t hash[HASH_BYTES];
    bool is_old;
};

static void signing_drop(struct operation *operation)
{
    free(((struct signing *)operation)->browser);
}

/* One that is not at hand yet was made a moment ago. */
static void look_at_age(void *context, const struct store_token *token)
{
    struct signing *signing = context;

    if (hash_same(token->hash, signing->hash, HASH_BYTES))
        signing->is_old = token->expires_ms <= engine_utc_ms(signing->operation.engine);
}

static void refuse(reply_done *done, void *context)
{
    struct reply reply = { 0 };

    error_say(&reply.err, ERROR_not_found, "/code", TEXT_REASON_CODE_SPENT, NULL);
    done(context, &reply);
}

static void on_spent(void *context, const struct store_reply *reply)
{
    struct signing *signing = context;
    struct reply failure = { .err = reply->err };

    if (reply->outcome == STORE_FAILED)
        signing->operation.done(signing->operation.context, &failure);
    else if (reply->outcome != STORE_DONE || signing->is_old)
        refuse(signing->operation.done, signing->operation.context);
    else
        tokens_add_tab(operation_call(&signing->operation), signing->operation.text,
                       signing->browser);
    operation_end(&signing->operation);
}

static void spend_shared(struct method_call call, const char *code, const char *label,
                         const char *browser)
{
    struct store *store = call.engine->parts.store;
    struct signing *signing = operation_new(sizeof *signing, call);
    struct store_token_use spent = { .now_ms = engine_utc_ms(call.engine) };

    signing->operation.drop = signing_drop;
    signing->operation.text = mem_text(label);
    signing->browser = mem_text(browser);
    token_hash(code, spent.hash);
    memcpy(signing->hash, spent.hash, HASH_BYTES);
    store->ops->list_tokens(store, look_at_age, signing);
    operation_begin_write(&signing->operation);
    store_write_token_revoke(store, &spent, on_spent, signing);
}

void engine_sign_in(struct engine *engine, const char *code, const char *label, const char *browser,
                    reply_done *done, void *context)
{
    const struct method_call call = { engine, NULL, NULL, done, context, false };

    if (browser && !device_may_stay(engine))
        browser = NULL;
    if (follow_is_shared(engine) && strncmp(code, PORTAL_CODE_START, 8) == 0) {
        spend_shared(call, code, label, browser);
        return;
    }
    if (spend(engine, code))
        tokens_add_tab(call, label, browser);
    else
        refuse(done, context);
}

/* The secrets with which we seal what clients carry for us (B6, R13.1). A key is made when there is
 * none or the newest is a month old, and used once it is on disk; older ones go on opening what
 * they sealed. They never leave this process and the store. */

static const char purpose[] = "request_state";

static void take_up(void *context, const struct store_key *stored)
{
    struct engine *engine = context;
    struct seal_key key = { .id = stored->id, .created_ms = stored->created_ms };

    memcpy(key.secret, stored->secret, sizeof key.secret);
    seal_ring_add(&engine->seals, &key);
    explicit_bzero(&key, sizeof key);
}

struct key_operation {
    struct operation operation; /* first */
    struct store_key key;
};

static void key_operation_drop(struct operation *operation)
{
    explicit_bzero(&((struct key_operation *)operation)->key, sizeof(struct store_key));
}

static void on_saved(void *context, const struct store_reply *reply)
{
    struct key_operation *own = context;
    struct engine *engine = own->operation.engine;

    engine->is_making_key = false;
    if (reply->outcome == STORE_FAILED) {
        log_error("keys.failed", "reason=%s", error_name(reply->err.code));
    } else {
        own->key.id = reply->seq;
        take_up(engine, &own->key);
    }
    operation_end(&own->operation);
}

void keys_refresh(struct engine *engine)
{
    int64_t now = engine_utc_ms(engine);
    struct key_operation *own;

    if (engine->is_making_key || !seal_ring_is_stale(&engine->seals, now))
        return;
    engine->is_making_key = true;
    own = operation_of_ours(sizeof *own, engine, NULL);
    own->operation.drop = key_operation_drop;
    own->key = (struct store_key){ .purpose = purpose, .created_ms = now };
    random_bytes(own->key.secret, sizeof own->key.secret);
    operation_begin_write(&own->operation);
    store_write_key(engine->parts.store, &own->key, on_saved, own);
}

void keys_load(struct engine *engine)
{
    struct store *store = engine->parts.store;

    store->ops->list_keys(store, purpose, take_up, engine);
    keys_refresh(engine);
}

void keys_release(struct engine *engine)
{
    explicit_bzero(&engine->seals, sizeof engine->seals);
}

bool engine_seal(struct engine *engine, const struct hash_part *bound, size_t bound_count,
                 int64_t lifetime_ms, const char *payload, struct text *out)
{
    int64_t now = engine_utc_ms(engine);

    keys_refresh(engine);
    return seal_close(&engine->seals, bound, bound_count, now, now + lifetime_ms, payload,
                      strlen(payload), out);
}

bool engine_unseal(const struct engine *engine, const struct hash_part *bound, size_t bound_count,
                   const char *sealed, size_t length, struct text *ret_payload)
{
    return seal_open(&engine->seals, bound, bound_count, engine_utc_ms(engine), sealed, length,
                     ret_payload);
}

/*
 * access.c - who may do what: the roles of each method are in ports/methods.def (R12.1), what a
 * token is worth less stands here. Only what the hub saw itself counts: the door, the role, the
 * token. A process of our own user on the unix socket is the owner. A token allows less, on this
 * machine too, because tokens get stolen: what is kept for the owner leads to commands that run as
 * this user, to more tokens, or to answers without a person. For the same reasons an agent's own
 * processes (own.c) may not do that either, but for stopping the hub.
 * tests/access.txt has the outcome for every door and identity.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "engine/inside.h"
#include "i18n/i18n.h"

static const struct restriction {
    enum method method;
    unsigned roles;      /* with a token, or over HTTP where none is needed */
    const char *command; /* the remedy; a setting adds its name */
} restrictions[] = {
    { METHOD_rule_add, 0, "sayso rule add" },
    { METHOD_rule_remove, 0, "sayso rule remove" },
    { METHOD_settings_set, ROLE_PERSON, "sayso settings set " }, /* a person's own */
    { METHOD_token_new, 0, "sayso token new" },
    { METHOD_token_revoke, ROLE_PERSON, "sayso token revoke" }, /* itself */
    { METHOD_portal_link, 0, "sayso open" },
    { METHOD_hub_status, ROLE_PERSON, "sayso status" },
    { METHOD_hub_stop, 0, "sayso stop" },
    { METHOD_hub_retire, 0, "sayso stop" },
};

static const struct restriction *restriction_of(enum method method)
{
    for (size_t i = 0; i < ARRAY_LEN(restrictions); i++) {
        if (restrictions[i].method == method)
            return &restrictions[i];
    }
    return NULL;
}

/* The rows that a token may use in part: the settings of the person, and signing itself out.
 * Without a token it may be an agent's process, which does not say whose answers count, or that
 * none is needed. */
static bool is_within(const struct visit *visit, enum method method, const struct json *params)
{
    const char *name = json_member_text(params, "name"), *id = json_member_text(params, "id");
    enum setting_id setting;

    if (method == METHOD_settings_set) /* an unknown name is refused as such */
        return !name || !setting_find(name, &setting) ||
               (setting_row(setting)->scope != SETTING_SCOPE_HOST &&
                (visit->token_id ||
                 (setting != SETTING_CLI_ANSWERS && setting != SETTING_TIMEOUT_ACTION)));
    if (method == METHOD_token_revoke)
        return id && visit->token_id && strcmp(id, visit->token_id) == 0;
    return true;
}

static bool refuse(const struct restriction *restriction, const struct json *params,
                   struct error *err)
{
    bool is_setting = restriction->method == METHOD_settings_set;
    const char *name = is_setting ? json_member_text(params, "name") : "";
    const char *path = is_setting ? "/name" : "";
    struct text command = { 0 };

    text_add_format(&command, "%s%s", restriction->command, name);
    error_say(err, ERROR_not_allowed, path, TEXT_REASON_TOKEN_CANNOT, "command",
              text_string(&command), NULL);
    text_release(&command);
    return false;
}

/* What is no number must not be taken for a number that was left out: a rule would stand for a
 * month, an answer to an older version would count. */
static bool has_numbers(const struct json *params, struct error *err)
{
    static const char *const names[] = { "after",    "before_ms", "days",        "held_ms",
                                         "limit",    "seconds",   "shown_ms",    "since_ms",
                                         "until_ms", "version",   "wait_seconds" };
    int64_t number;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct json *given = json_member(params, names[i]);

        if (json_kind(given) == KIND_NULL || json_integer_of(given, &number))
            continue;
        error_say(err, ERROR_out_of_range, "/", TEXT_REASON_WHOLE_NUMBER, NULL);
        text_put(err->path + 1, sizeof err->path - 1, names[i]);
        return false;
    }
    return true;
}

bool access_may(struct engine *engine, struct visit *visit, enum method method,
                const struct json *params, struct error *err)
{
    const struct restriction *restriction = restriction_of(method);
    bool is_owner = !visit->token_id && visit->uid == engine->parts.uid;
    bool may =
        !restriction || (restriction->roles & visit->role && is_within(visit, method, params));

    if (!(methods[method].roles & visit->role))
        return error_say(err, ERROR_wrong_role, "", TEXT_REASON_WRONG_ROLE, NULL);
    /* an agent's own processes are the owner's, too */
    if (!may && is_owner && !(methods[method].flags & METHOD_OF_HUB))
        may = own_may_govern(engine, visit, err);
    else
        may = may || is_owner || refuse(restriction, params, err);
    return may && has_numbers(params, err);
}

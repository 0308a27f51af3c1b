/*
 * access.c - who may do what: every act is one row (R12.1). Only what the hub saw itself counts:
 * the door, the role, the token. A process of our own user on the unix socket is the owner. A token
 * allows less, on this machine too, because tokens get stolen: what a row keeps for the owner leads
 * to commands that run as this user, to more tokens, or to answers without a person. For the same
 * reasons an agent's own processes (own.c) may not do that either, but for stopping the hub.
 * tests/access.txt has the outcome for every door and identity.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "engine/inside.h"

enum { AGENTS = ROLE_AGENT, PEOPLE = ROLE_PERSON, BOTH = ROLE_AGENT | ROLE_PERSON, NONE = 0 };

static const struct access {
    size_t act;
    unsigned owner;      /* roles, on the unix socket */
    unsigned token;      /* roles, with a token, or over HTTP where none is needed */
    const char *command; /* the remedy where a token is worth less; a setting adds its name */
} accesses[] = {
    { DESK_ACT(submit), AGENTS, AGENTS, NULL },
    { DESK_ACT(wait), AGENTS, AGENTS, NULL },
    { DESK_ACT(delivered), AGENTS, AGENTS, NULL },
    { DESK_ACT(withdraw), AGENTS, AGENTS, NULL },
    { DESK_ACT(detach), AGENTS, AGENTS, NULL },
    { DESK_ACT(cut_off), AGENTS, AGENTS, NULL },
    { DESK_ACT(client_result), AGENTS, AGENTS, NULL },
    { DESK_ACT(client_failed), AGENTS, AGENTS, NULL },
    { DESK_ACT(mine_list), AGENTS, AGENTS, NULL },
    { DESK_ACT(mine_get), AGENTS, AGENTS, NULL },
    { DESK_ACT(mine_follow), AGENTS, AGENTS, NULL },
    { DESK_ACT(conversation_new), AGENTS, AGENTS, NULL },
    { DESK_ACT(conversation_list), BOTH, BOTH, NULL },
    { DESK_ACT(conversation_get), BOTH, BOTH, NULL },
    { DESK_ACT(conversation_say), BOTH, BOTH, NULL },
    { DESK_ACT(conversation_events), BOTH, BOTH, NULL },
    { DESK_ACT(conversation_follow), BOTH, BOTH, NULL },
    { DESK_ACT(answer), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(cancel), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(decline), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(extend), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(undo), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(send_now), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(draft), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(switch_interface), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(challenge), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(attach), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(list), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(get), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(watch), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(history), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(statistics), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(ask_back), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(tell), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(unseen), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(seen), PEOPLE, PEOPLE, NULL }, /* it looks itself whose process it is */
    { DESK_ACT(later), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(hide), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(rule_preview), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(rule_list), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(rule_suggest), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(rule_add), PEOPLE, NONE, "sayso rule add" },
    { DESK_ACT(rule_remove), PEOPLE, NONE, "sayso rule remove" },
    { DESK_ACT(settings_list), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(settings_set), PEOPLE, PEOPLE, "sayso settings set " }, /* a person's own */
    { DESK_ACT(token_list), PEOPLE, PEOPLE, NULL },
    { DESK_ACT(token_new), PEOPLE, NONE, "sayso token new" },
    { DESK_ACT(token_revoke), PEOPLE, PEOPLE, "sayso token revoke" }, /* itself */
    { DESK_ACT(portal_link), PEOPLE, NONE, "sayso open" },
    { DESK_ACT(portal_open), PEOPLE, PEOPLE, NULL }, /* it looks itself whose process it is */
    { DESK_HUB_STATUS, BOTH, PEOPLE, "sayso status" },
    { DESK_HUB_STOP, PEOPLE, NONE, "sayso stop" },
    { DESK_HUB_RETIRE, BOTH, NONE, "sayso stop" },
};

static const struct access *find(size_t act)
{
    for (size_t i = 0; i < ARRAY_LEN(accesses); i++) {
        if (accesses[i].act == act)
            return &accesses[i];
    }
    return NULL;
}

/* The rows that a token may use in part: the settings of the person, and signing itself out.
 * Without a token it may be an agent's process, which does not say whose answers count, or that
 * none is needed. */
static bool is_within(const struct visit *visit, size_t act, const struct json *params)
{
    const char *name = json_member_text(params, "name"), *id = json_member_text(params, "id");
    enum setting_id setting;

    if (act == DESK_ACT(settings_set)) /* an unknown name is refused as such */
        return !name || !setting_find(name, &setting) ||
               (setting_row(setting)->scope != SETTING_SCOPE_HOST &&
                (visit->token_id ||
                 (setting != SETTING_CLI_ANSWERS && setting != SETTING_TIMEOUT_ACTION)));
    if (act == DESK_ACT(token_revoke))
        return id && visit->token_id && strcmp(id, visit->token_id) == 0;
    return true;
}

static bool refuse(const struct access *access, const struct json *params, struct error *err)
{
    bool is_setting = access->act == DESK_ACT(settings_set);
    const char *name = is_setting ? json_member_text(params, "name") : "";
    const char *path = is_setting ? "/name" : "";

    return error_set(err, ERROR_not_allowed, path,
                     "a token can't do this: run '%s%s' in a terminal on the hub's machine",
                     access->command, name);
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
        error_set(err, ERROR_out_of_range, "/", "must be a whole number");
        text_put(err->path + 1, sizeof err->path - 1, names[i]);
        return false;
    }
    return true;
}

bool access_may(struct desk *desk, const struct desk_visit *acting, size_t act,
                const struct json *params, struct error *err)
{
    const struct visit *visit = (const struct visit *)acting;
    const struct access *access = find(act);
    bool is_owner = !visit->token_id && visit->uid == engine_of(desk)->parts.uid;
    bool is_for_all, may;

    if (!access || !(access->owner & visit->role))
        return error_set(err, ERROR_wrong_role, "",
                         "agents ask and people answer: this method is not for your role");
    is_for_all = (access->token & visit->role) && is_within(visit, act, params);
    if (is_owner && !is_for_all && act >= DESK_HUB_ACTS) /* its own are the owner's processes too */
        may = own_may_govern(engine_of(desk), (struct visit *)acting, err);
    else
        may = is_owner || is_for_all || refuse(access, params, err);
    return may && has_numbers(params, err);
}

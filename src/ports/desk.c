/* desk.c - see desk.h. */
#include "ports/desk.h"

#include "base/json.h"
#include "base/text.h"

bool desk_may(struct desk *desk, const struct desk_visit *visit, size_t act,
              const struct json *params, struct error *err)
{
    return !desk->ops->may || desk->ops->may(desk, visit, act, params, err);
}

void desk_serve(struct desk *desk, struct desk_visit *visit, size_t act, const struct json *params,
                desk_done *done, void *context)
{
    struct desk_reply refused = { 0 };

    if (desk_may(desk, visit, act, params, &refused.err) &&
        json_check_range(json_member(params, "arguments"), &refused.err) &&
        json_check_range(params, &refused.err))
        desk_act_at(desk, act)(desk, visit, params, done, context);
    else
        done(context, &refused);
}

void desk_pass(struct desk *desk, struct desk_visit *visit, size_t act, const struct text *params,
               desk_done *done, void *context)
{
    struct json *json = NULL;

    if (desk->ops->pass)
        desk->ops->pass(desk, visit, act, params, done, context);
    else if (json_parse(text_string(params), params->used, &json, NULL))
        desk_serve(desk, visit, act, json, done, context);
    json_free(json);
}

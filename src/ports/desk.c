/* desk.c - see desk.h. */
#include "ports/desk.h"

#include "base/json.h"
#include "base/text.h"

void desk_pass(struct desk *desk, struct desk_visit *visit, size_t act, const struct text *params,
               desk_done *done, void *context)
{
    struct json *json = NULL;

    if (desk->ops->pass)
        desk->ops->pass(desk, visit, act, params, done, context);
    else if (json_parse(text_string(params), params->used, &json, NULL))
        desk_act_at(desk, act)(desk, visit, json, done, context);
    json_free(json);
}

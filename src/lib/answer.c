/* answer.c - what a person answered, out of the result of any tool. Where nobody did, nothing. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "lib/inside.h"

int sayso_request_code(const struct sayso_request *request)
{
    return request ? (int)request->code : SAYSO_MISUSE;
}

const char *sayso_request_error(const struct sayso_request *request)
{
    return request ? request->error : "";
}

const char *sayso_request_id(const struct sayso_request *request)
{
    return request ? request->id : "";
}

const char *sayso_request_result(const struct sayso_request *request)
{
    return request ? request->result_json : NULL;
}

/* Where one value stands alone: what was chosen before what was written. */
static const struct json *find_only(const struct sayso_request *request)
{
    static const char *const members[] = { "choice", "value", "confirmed", "input" };
    const struct json *selection = json_member(request->result, "selection");
    const struct json *ids = json_member(selection, "selected_ids"), *found = NULL;

    if (selection)
        return json_length(ids) ? ids : json_member(selection, "custom_input");
    if (request->field)
        found = json_member(request->result, request->field);
    for (size_t i = 0; !found && i < ARRAY_LEN(members); i++)
        found = json_member(request->result, members[i]);
    return found;
}

static const struct json *find(const struct sayso_request *request, const char *field)
{
    static const char *const groups[] = { "content", "answers", "selection" };
    bool has_group = false;

    if (!request || request->code != SAYSO_OK)
        return NULL;
    if (!field)
        return find_only(request);
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        const struct json *group = json_member(request->result, groups[i]);

        if (json_member(group, field))
            return json_member(group, field);
        has_group |= group != NULL;
    }
    return has_group ? NULL : json_member(request->result, field);
}

/* A text with a NUL in it would be cut short, so it is none here; it is whole in the result. */
static const char *whole_text(const struct json *value)
{
    const char *text = json_text(value);

    return text && strlen(text) == json_length(value) ? text : NULL;
}

size_t sayso_answer_count(const struct sayso_request *request, const char *field)
{
    const struct json *value = find(request, field);

    if (json_kind(value) == KIND_LIST)
        return json_length(value);
    return whole_text(value) ? 1 : 0;
}

const char *sayso_answer_item(const struct sayso_request *request, const char *field, size_t index)
{
    const struct json *value = find(request, field);

    if (json_kind(value) == KIND_LIST)
        return index < json_length(value) ? whole_text(json_item(value, index)) : NULL;
    return index == 0 ? whole_text(value) : NULL;
}

const char *sayso_answer_text(const struct sayso_request *request, const char *field)
{
    return sayso_answer_item(request, field, 0);
}

int sayso_answer_number(const struct sayso_request *request, const char *field, double *ret_number)
{
    const struct json *value = find(request, field);

    if (!ret_number)
        return SAYSO_MISUSE;
    if (json_kind(value) != KIND_INTEGER && json_kind(value) != KIND_REAL)
        return SAYSO_NOT_FOUND;
    *ret_number = json_number_of(value);
    return SAYSO_OK;
}

int sayso_answer_yes(const struct sayso_request *request, const char *field, int *ret_is_yes)
{
    const struct json *value = find(request, field);

    if (!ret_is_yes)
        return SAYSO_MISUSE;
    *ret_is_yes = 0;
    if (json_kind(value) != KIND_BOOL)
        return SAYSO_NOT_FOUND;
    *ret_is_yes = json_is_yes(value);
    return SAYSO_OK;
}

const char *sayso_answer_note(const struct sayso_request *request)
{
    const struct json *selection, *note;

    if (!request || !request->result)
        return NULL;
    selection = json_member(request->result, "selection");
    note = json_member(selection ? selection : request->result, "global_annotation");
    return whole_text(note);
}

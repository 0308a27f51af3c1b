/*
 * Whatever bytes come as arguments of any tool: a call is accepted and its form survives the store
 * unchanged, or it is refused with a code of the list and words that are safe to print.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "core/ask.h"
#include "core/limits.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void check_clean(const char *shown)
{
    struct text again = { 0 };
    unsigned flags = visible_text(shown, strlen(shown), VISIBLE_ONE_LINE, &again);

    require(text_is_utf8(shown, strlen(shown)));
    require(strcmp(text_string(&again), shown) == 0);
    require((flags & (VISIBLE_HIDDEN | VISIBLE_BIDI | VISIBLE_INVISIBLE)) == 0);
    text_release(&again);
}

static void check_refusal(const struct error *err)
{
    struct error one;

    for (size_t i = 0; error_at(err, i, &one); i++) {
        require(one.code > ERROR_NONE && one.code < ERROR_COUNT && one.message[0] != '\0');
        require(one.path[0] == '\0' || one.path[0] == '/');
        check_clean(one.path);
        check_clean(one.message);
    }
}

static void check_form(const struct form *form)
{
    struct text first = { 0 }, second = { 0 };
    struct form again = { 0 };

    form_encode(form, &first);
    require(form_parse(first.bytes, first.used, &again, NULL));
    form_encode(&again, &second);
    require(strcmp(first.bytes, second.bytes) == 0);
    form_release(&again);
    text_release(&first);
    text_release(&second);
}

/* What a front sends of it makes the same call at the hub, with the same form. */
static void check_sent(const struct ask_tool *tool, const struct json *given,
                       const struct ask_call *call)
{
    struct json *owner = NULL, *arguments = NULL;
    struct ask_call checked = { 0 }, again = { 0 };
    char *sent;
    struct text form = { 0 }, form_again = { 0 };

    require(arguments_check_call(tool, given, &checked, &owner, NULL));
    sent = json_encode(owner);
    require(json_parse(sent, strlen(sent), &arguments, NULL));
    require(arguments_check(tool, arguments, &again, NULL));
    require(strcmp(call->arguments_json, again.arguments_json) == 0);
    form_encode(&call->form, &form);
    form_encode(&again.form, &form_again);
    require(strcmp(text_string(&form), text_string(&form_again)) == 0);
    text_release(&form);
    text_release(&form_again);
    ask_call_release(&again);
    ask_call_release(&checked);
    json_free(arguments);
    json_free(owner);
    free(sent);
}

static void check_call(const struct ask_tool *tool, const struct ask_call *call)
{
    struct json *arguments = NULL;
    struct ask_call again = { 0 };

    require((call->session_id[0] != '\0') == (call->form.field_count == 0));
    if (call->session_id[0] != '\0')
        require(ask_id_is_valid(call->session_id));
    else
        check_form(&call->form);
    /* Its own canonical arguments make the same call. */
    require(json_parse(call->arguments_json, strlen(call->arguments_json), &arguments, NULL));
    require(arguments_check(tool, arguments, &again, NULL));
    require(strcmp(call->arguments_json, again.arguments_json) == 0);
    ask_call_release(&again);
    json_free(arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *arguments = NULL;
    struct form form = { 0 };
    struct error err = { 0 };

    if (!json_parse((const char *)data, size, &arguments, &err))
        check_refusal(&err);
    for (size_t i = 0; arguments && ask_tool_at(i); i++) {
        struct ask_call call = { 0 };

        if (arguments_check(ask_tool_at(i), arguments, &call, &err)) {
            check_call(ask_tool_at(i), &call);
            check_sent(ask_tool_at(i), arguments, &call);
        } else {
            check_refusal(&err);
        }
        ask_call_release(&call);
    }
    json_free(arguments);
    if (form_parse((const char *)data, size, &form, &err))
        check_form(&form);
    form_release(&form);
    return 0;
}

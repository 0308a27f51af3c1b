/*
 * form.c - the client of an agent as a channel, the protocol's half: forms that the service wants
 * shown go out in the way the call's revision has, what comes back goes to the service as it is.
 * What it is worth is decided there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "core/fields/form.h"
#include "core/known_clients.h"
#include "mcp/calls.h"
#include "mcp/form_schema.h"

/* What a form can bring at most: its texts are bounded, and so is their number. */
enum { CONTENT_BYTES = 262144 };
static const char INPUT_KEY[] = "answer";

struct shown_form {
    struct mcp_call *call;
    struct call_question *question;
    bool is_url;
    int64_t shown_boot_ms;
    char session_id[27];
};

void mcp_form_write_client(struct json_writer *writer, const struct mcp_call *call)
{
    json_write_object(writer, "client");
    json_write_text(writer, "era", call->revision == REVISION_2026_07_28 ? "modern" : "legacy");
    json_write_bool(writer, "form", call_has(call, ABILITY_FORM));
    json_write_bool(writer, "url", call_has(call, ABILITY_URL));
    json_write_bool_if(writer, "stops_clock", known_client(call->session->name)->stops_clock);
    json_write_end_object(writer);
}

/* What comes back ------------------------------------------------------------------------------ */

/* Values of a form are flat, and only those go to the service: it needs nothing else. */
static bool is_flat(const struct json *content)
{
    if (json_kind(content) != KIND_OBJECT)
        return false;
    for (void *at = json_first(content); at; at = json_next(content, at)) {
        const struct json *value = json_value(at);

        if (json_kind(value) == KIND_OBJECT)
            return false;
        for (size_t i = 0; json_kind(value) == KIND_LIST && i < json_length(value); i++) {
            enum json_kind kind = json_kind(json_item(value, i));

            if (kind == KIND_LIST || kind == KIND_OBJECT)
                return false;
        }
    }
    return true;
}

/* Of a form's result; NULL: what is there is no content. The caller frees. With a number out of
 * range the service would refuse all of it, and not hear that the form came back. */
static char *encode_content(const struct json *result)
{
    const struct json *content = json_member(result, "content");
    char *json = is_flat(content) && json_check_range(content, NULL) ? json_encode(content) : NULL;

    if (json && strlen(json) <= CONTENT_BYTES)
        return json;
    free(json);
    return NULL;
}

static void write_result(struct json_writer *writer, const struct json *result)
{
    char *content = encode_content(result);

    json_write_text_if(writer, "action", json_member_text(result, "action"));
    if (content)
        json_write_raw(writer, "content", content);
    free(content);
}

void mcp_form_write_returned(struct json_writer *writer, const struct json *params)
{
    const struct json *response = json_member(json_member(params, "inputResponses"), INPUT_KEY);

    if (json_kind(response) != KIND_OBJECT)
        return;
    json_write_object(writer, "response");
    write_result(writer, response);
    json_write_end_object(writer);
}

static void tell_result(struct hub_session *session, const struct form_return *form,
                        const struct json *result)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);

    json_write_text(&writer, "session_id", form->session_id);
    json_write_text_if(&writer, "mode", form->is_url ? "url" : NULL);
    write_result(&writer, result);
    json_write_integer(&writer, "shown_ms", form->shown_ms);
    tool_act(METHOD_client_result, session, &writer, NULL, NULL);
}

void mcp_form_return(struct hub_session *session, const struct form_return *form, bool is_error,
                     const struct json *json)
{
    if (is_error && !form->is_url) /* what becomes of an address says nothing about forms */
        tool_act_on(METHOD_client_failed, session, form->session_id);
    else
        tell_result(session, form, json);
}

/* Its clock runs again, where it stood still. */
static void end_shown(struct mcp_call *call)
{
    if (known_client(call->session->name)->stops_clock)
        hold_until(call, mcp_boot_ms(call->to.mcp) + hold_limit_s(call) * 1000);
    call->shown = NULL;
}

static bool is_accepted(const struct json *result)
{
    const char *action = json_member_text(result, "action");

    return action && strcmp(action, "accept") == 0;
}

/* Telling the service may answer the call, which is gone then. */
static void on_answer(void *context, enum call_answer answer, const struct json *json)
{
    struct shown_form *shown = context;
    struct mcp_call *call = shown->call;
    struct form_return form = { .is_url = shown->is_url,
                                .shown_ms = mcp_boot_ms(call->to.mcp) - shown->shown_boot_ms };

    memcpy(form.session_id, shown->session_id, sizeof form.session_id);
    end_shown(call);
    call->has_returned = answer != CALL_GONE;
    call->has_opened = shown->is_url && answer == CALL_ANSWERED && is_accepted(json);
    if (answer == CALL_ANSWERED || answer == CALL_REFUSED)
        mcp_form_return(call->session, &form, answer == CALL_REFUSED, json);
    free(shown);
}

/* What goes out -------------------------------------------------------------------------------- */

/* A form as the service sent it. False: it is none. */
static bool read_form(const struct json *told, struct form *ret_form, enum language *ret_language)
{
    const char *language = json_member_text(told, "language");
    struct error err;
    bool ok = form_read(json_member(told, "form"), ret_form, &err);

    *ret_language = LANGUAGE_EN;
    if (language)
        language_find(language, ret_language);
    if (ok && !json_is_true(json_member(told, "notes")))
        ret_form->allow_annotations = false;
    return ok;
}

static enum ability ability_for(const struct json *told)
{
    return json_member(told, "url") ? ABILITY_URL : ABILITY_FORM;
}

/* The params of elicitation/create; false: the service sent no form, or what this client lacks. */
static bool write_elicitation(const struct mcp_call *call, const char *session_id,
                              const struct json *told, struct text *out)
{
    const char *url = json_member_text(told, "url"), *ask_url = call->to.mcp->ask_url;
    struct form form = { 0 };
    enum language language;
    char *place;

    if (!call_has(call, ability_for(told)) || !read_form(told, &form, &language))
        return false;
    place = mem_format("%s%s", ask_url ? ask_url : "sayso show ", session_id);
    if (url)
        form_schema_write_url(&form, session_id, url, out);
    else
        form_schema_write(&form, call->revision, call->session->name, language, told, place, out);
    free(place);
    form_release(&form);
    return true;
}

/* The call it can be shown on; NULL: none, or it is shown already. */
static struct mcp_call *find_call(const struct hub_session *session, const char *session_id,
                                  enum ability ability, bool is_again)
{
    struct mcp_call *found = NULL;

    for (struct mcp_call *call = session->mcp->calls; call; call = call->next) {
        if (call->session != session || strcmp(call->session_id, session_id) != 0)
            continue;
        if (call->shown)
            return NULL;
        if (call->to.stream && !call->is_away && (is_again || !call->has_returned) &&
            call_has(call, ability))
            found = call;
    }
    return found;
}

static void show(struct mcp_call *call, const char *session_id, bool is_url,
                 const char *params_json)
{
    struct shown_form *shown = mem_new(sizeof *shown);
    char *carried = takeover_seal_form(call->to.mcp, session_id, is_url);

    shown->call = call;
    shown->is_url = is_url;
    text_put(shown->session_id, sizeof shown->session_id, session_id);
    shown->shown_boot_ms = mcp_boot_ms(call->to.mcp);
    call->shown = shown;
    if (known_client(call->session->name)->stops_clock && call->deadline_boot_ms)
        hold_until(call, call->deadline_boot_ms);
    takeover_send_stream(call); /* who has this event need not be shown the form again */
    /* no end of its own: the ask's deadline ends the call, and the call the question */
    shown->question =
        question_ask(call, carried, "elicitation/create", params_json, on_answer, shown);
    free(carried);
    if (!shown->question) {
        call->shown = NULL;
        free(shown);
    }
}

void mcp_form_present(struct hub_session *session, const struct json *params)
{
    const char *session_id = json_member_text(params, "session_id");
    enum ability ability = ability_for(params);
    bool is_again = json_member(params, "lacks") != NULL;
    struct mcp_call *call = session_id ? find_call(session, session_id, ability, is_again) : NULL;
    struct text out = { 0 };

    if (call && write_elicitation(call, session_id, params, &out))
        show(call, session_id, ability == ABILITY_URL, text_string(&out));
    text_release(&out);
}

void mcp_form_withdraw(struct hub_session *session, const struct json *params)
{
    const char *session_id = json_member_text(params, "session_id");

    for (struct mcp_call *call = session->mcp->calls; call && session_id; call = call->next) {
        struct shown_form *shown = call->shown;

        if (call->session != session || !shown || strcmp(shown->session_id, session_id) != 0)
            continue;
        end_shown(call);
        call_withdraw(shown->question);
        free(shown);
    }
}

void mcp_form_finish(const struct mcp_call *call)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "elicitationId", call->session_id);
    mcp_notify(&call->to, "notifications/elicitation/complete", &writer);
}

bool mcp_form_need_input(struct mcp_call *call, const char *reply_json)
{
    struct json *reply = NULL;
    const struct json *needed;
    const char *session_id;
    struct text params = { 0 }, requests = { 0 };
    struct json_writer writer = json_writer_to(&requests);
    bool ok;

    if (call->revision != REVISION_2026_07_28 ||
        !json_parse(reply_json, strlen(reply_json), &reply, NULL))
        return false;
    needed = json_member(reply, "input_required");
    session_id = json_member_text(reply, "session_id");
    ok = needed && session_id && write_elicitation(call, session_id, needed, &params);
    if (ok) {
        json_write_object(&writer, NULL);
        json_write_object(&writer, INPUT_KEY);
        json_write_text(&writer, "method", "elicitation/create");
        json_write_raw(&writer, "params", text_string(&params));
        json_write_end_object(&writer);
        json_write_end_object(&writer);
        input_reply(call, text_string(&requests), json_member_text(needed, "state"));
    }
    text_release(&requests);
    text_release(&params);
    json_free(reply);
    return ok;
}

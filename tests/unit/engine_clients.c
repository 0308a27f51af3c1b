/* engine_clients.c - see engine_clients.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_clients.h"

#include <stdio.h>

#include "base/mem.h"

struct caller *enter_client(struct stage *stage, const char *version)
{
    struct identity client = visitor_agent("form client");

    client.version = version;
    client.transport = "stdio";
    return caller_enter(stage, "client", &client);
}

struct caller *enter_person(struct stage *stage, const char *via)
{
    struct identity person = visitor_person(via);

    return caller_enter(stage, "person", &person);
}

void ask(struct call *call, struct caller *client, const char *title, const char *arguments,
         const char *more)
{
    call_release(call);
    *call = (struct call){ 0 };
    call_start(call, client, METHOD_ask_create,
               "{'tool':'provide_choice','arguments':{'title':'%s','prompt':'Which of the two "
               "targets shall be taken?','selection_mode':'single','options':[{'id':'a','label':"
               "'Alpha','recommended':true},{'id':'b','label':'Beta'}]%s},'wait_seconds':50,'tag':"
               "'7',%s}",
               title, arguments, more);
    stage_settle(client->stage);
}

const char *shown_id(const struct caller *client)
{
    static char id[ASK_ID_BYTES];
    struct json *told = caller_event(client, "client/present");
    const char *found = json_member_text(json_at(told, "/params"), "session_id");

    snprintf(id, sizeof id, "%s", found ? found : "");
    json_free(told);
    return id;
}

void return_form(struct caller *client, const char *id, const char *members)
{
    struct call call = { 0 };

    call_run(&call, client, METHOD_client_result, "{'session_id':'%s',%s}", id, members);
    assert_worked(&call);
    call_release(&call);
}

char *state_of(const struct call *asked)
{
    const char *text = call_text(asked, "/input_required/state");

    assert_int_equal(asked->replies, 1);
    assert_false(asked->is_final);
    assert_true(text[0] != '\0');
    return mem_text(text);
}

char *ask_modern(struct call *asked, struct caller *client, const char *title)
{
    ask(asked, client, title, "", MODERN);
    return state_of(asked);
}

void come_back_as(struct call *asked, struct caller *client, const char *title, const char *side,
                  const char *state, const char *response)
{
    struct text more = { 0 };

    text_add_format(&more, "%s,'state':'%s'%s%s", side, state, response ? ",'response':" : "",
                    response ? response : "");
    ask(asked, client, title, "", text_string(&more));
    text_release(&more);
}

void come_back(struct call *asked, struct caller *client, const char *title, const char *state,
               const char *response)
{
    come_back_as(asked, client, title, MODERN, state, response);
}

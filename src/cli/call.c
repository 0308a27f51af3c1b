/* call.c - see call.h. */
#include "cli/call.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/say.h"
#include "settings/settings.h"
#include "wire/place.h"

const struct link_identity call_person = { .role = "person", .channel = "cli", .name = "sayso" };

struct settings *call_settings(void)
{
    struct settings *settings = settings_new();
    struct place place;

    settings_load(settings, place_find(&place, NULL) ? place.settings : NULL);
    return settings;
}

static bool has_saved_language; /* of the person, so that no ask brings another */

static void use_saved_language(struct link *link)
{
    struct wire_message reply = { 0 };
    const struct json *setting;
    const char *source;
    struct error err;

    if (link_call(link, "settings/list", "{\"name\":\"language\"}", &reply, &err)) {
        setting = json_item(json_member(reply.result, "settings"), 0);
        source = json_member_text(setting, "source");
        has_saved_language = source && strcmp(source, "saved") == 0;
        settings_speak(json_member_text(setting, "value"), has_saved_language, NULL);
    }
    wire_release(&reply);
}

void call_speak_as_asked(const struct json *ask)
{
    if (!has_saved_language)
        settings_speak(NULL, false, json_member_text(json_member(ask, "origin"), "language"));
}

void call_speak_as_saved(void)
{
    struct link *link = NULL;
    struct error err;

    if (link_open(&call_person, LINK_MUST_RUN, &link, &err))
        use_saved_language(link);
    link_close(link);
}

bool call_open(const struct arguments *arguments, const struct link_identity *identity,
               enum link_start start, struct link **ret_link)
{
    struct error err;

    if (link_open(identity, start, ret_link, &err)) {
        if (identity == &call_person)
            use_saved_language(*ret_link);
        return true;
    }
    say_error(arguments, &err, NULL);
    return false;
}

bool call_open_running(const struct arguments *arguments, enum link_start start,
                       const char *absent_json, struct link **ret_link, enum exit_code *ret_code)
{
    struct error err;

    if (link_open(&call_person, start, ret_link, &err)) {
        use_saved_language(*ret_link);
        return true;
    }
    *ret_code = err.code == ERROR_not_found ? EXIT_DONE : EXIT_ERROR;
    if (*ret_code == EXIT_ERROR)
        say_error(arguments, &err, NULL);
    else if (arguments->is_json)
        say_json(absent_json);
    else if (!arguments_value(arguments, "short"))
        say_note(TEXT_CLI_NOT_RUNNING);
    return false;
}

bool call_hub(const struct arguments *arguments, struct link *link, const char *method,
              const char *params_json, struct wire_message *ret_reply)
{
    struct error err;

    if (link_call(link, method, params_json, ret_reply, &err))
        return true;
    say_error(arguments, &err, json_member(json_member(ret_reply->error, "data"), "detail"));
    return false;
}

bool call_expect(const struct arguments *arguments, const struct json *part, const char *member)
{
    struct error err;

    if (json_member_text(part, member))
        return true;
    error_set(&err, ERROR_unavailable, "",
              "the hub's reply lacks what it must have: end it with sayso stop, then try again");
    say_error(arguments, &err, NULL);
    return false;
}

static void call_add_id(const char *id, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    if (id)
        json_write_text(&writer, "session_id", id);
    json_write_end_object(&writer);
}

char *call_id_params(const char *id)
{
    struct text out = { 0 };

    call_add_id(id, &out);
    return text_take(&out);
}

void call_confirm(struct link *link, const struct link_identity *identity, const char *result_of,
                  const char *notices_of)
{
    struct text params = { 0 };
    struct json_writer writer = json_writer_to(&params);
    struct wire_message reply = { 0 };
    struct link *again = NULL;
    struct error err;

    json_write_object(&writer, NULL);
    json_write_list(&writer, "session_ids");
    if (result_of)
        json_write_text(&writer, NULL, result_of);
    json_write_end_list(&writer);
    json_write_list(&writer, "with_notices");
    if (notices_of)
        json_write_text(&writer, NULL, notices_of);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    if (!link_call(link, "ask/delivered", text_string(&params), &reply, &err) &&
        link_is_lost(link) && link_open(identity, LINK_MAY_START, &again, &err))
        link_call(again, "ask/delivered", text_string(&params), &reply, &err);
    link_close(again);
    wire_release(&reply);
    text_release(&params);
}

bool act_write_id(const struct arguments *arguments, struct text *params)
{
    struct json_writer writer = json_writer_to(params);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", arguments->words[1]);
    json_write_end_object(&writer);
    return true;
}

bool act_write_session(const struct arguments *arguments, struct text *params)
{
    call_add_id(arguments->words[0], params);
    return true;
}

static bool finish(const struct arguments *arguments, const struct act *act, struct link *link,
                   const struct json *result)
{
    if (act->finish)
        return act->finish(arguments, link, result);
    if (arguments->is_json)
        say_value(act->shown ? json_member(result, act->shown) : result);
    else
        act->print(arguments, result);
    return true;
}

enum exit_code act_run(const struct arguments *arguments, const struct act *act)
{
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    struct text params = { 0 };
    enum exit_code code = EXIT_USAGE;

    if (!act->write)
        text_add_text(&params, "{}");
    if (!act->write || act->write(arguments, &params)) {
        code = EXIT_ERROR;
        if (call_open(arguments, &call_person, LINK_MAY_START, &link) &&
            call_hub(arguments, link, act->method, text_string(&params), &reply) &&
            finish(arguments, act, link, reply.result))
            code = EXIT_DONE;
    }
    wire_release(&reply);
    link_close(link);
    text_release(&params);
    return code;
}

enum exit_code act_choose(const struct arguments *arguments, const struct act *acts, size_t count,
                          const char *syntax)
{
    const char *name = arguments->word_count ? arguments->words[0] : acts[0].name;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(acts[i].name, name) == 0 &&
            (arguments->word_count == acts[i].words || arguments->word_count == 0))
            return act_run(arguments, &acts[i]);
    }
    return say_needs(arguments, syntax);
}

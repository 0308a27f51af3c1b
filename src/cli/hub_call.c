#include "cli/hub_call.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/loop.h"
#include "base/os.h"
#include "cli/say.h"
#include "core/visible_text.h"
#include "rpc/location.h"
#include "settings/settings.h"

enum { DIRECTORY_BYTES = 4096 };

const struct client_identity call_person = { .role = "person", .channel = "cli", .name = "sayso" };

struct client_identity call_asker(const struct arguments *arguments, const char *directory)
{
    return (struct client_identity){ .role = "agent",
                                     .name = "sayso ask",
                                     .as_name = arguments_value(arguments, "as"),
                                     .directory = directory };
}

struct settings *call_settings(void)
{
    struct settings *settings = settings_new();
    char path[LOCATION_PATH_BYTES];

    settings_load(settings, location_settings(path, NULL) ? path : NULL);
    return settings;
}

static bool has_saved_language; /* of the person, so that no ask brings another */

static void use_saved_language(struct client *link)
{
    struct rpc_message reply = { 0 };
    const struct json *setting;
    const char *source;
    struct error err;

    if (client_call_and_wait(link, "settings/list", "{\"name\":\"language\"}", &reply, &err)) {
        setting = json_item(json_member(reply.result, "settings"), 0);
        source = json_member_text(setting, "source");
        has_saved_language = source && strcmp(source, "saved") == 0;
        settings_speak(json_member_text(setting, "value"), has_saved_language, NULL);
    }
    rpc_release(&reply);
}

void call_speak_as_asked(const struct json *ask)
{
    if (!has_saved_language)
        settings_speak(NULL, false, json_member_text(json_member(ask, "origin"), "language"));
}

/* NULL in *ret_link where it failed. */
static bool open_client(const struct client_identity *identity, const struct client_policy *policy,
                        struct client **ret_link, struct error *err)
{
    *ret_link = client_new(identity, policy, NULL, NULL, loop_boot_ms);
    if (client_open_and_wait(*ret_link, err))
        return true;
    client_free(*ret_link);
    *ret_link = NULL;
    return false;
}

bool call_look(struct client **ret_link, struct error *err)
{
    return open_client(&call_person, &client_for_look, ret_link, err);
}

void call_speak_as_saved(void)
{
    struct client *link = NULL;
    struct error err;

    if (call_look(&link, &err))
        use_saved_language(link);
    client_free(link);
}

bool call_open(const struct arguments *arguments, const struct client_identity *identity,
               struct client **ret_link)
{
    struct error err;

    if (open_client(identity, &client_for_command, ret_link, &err)) {
        if (identity == &call_person)
            use_saved_language(*ret_link);
        return true;
    }
    say_error(arguments, &err, NULL);
    return false;
}

char *call_directory(void)
{
    char path[DIRECTORY_BYTES];
    struct text shown = { 0 };

    if (!os_working_directory(path, sizeof path))
        return NULL;
    visible_text(path, strlen(path), VISIBLE_LINES, &shown);
    return text_take(&shown);
}

bool call_open_running(const struct arguments *arguments, const struct client_policy *policy,
                       const char *absent_json, struct client **ret_link, enum exit_code *ret_code)
{
    struct error err;

    if (open_client(&call_person, policy, ret_link, &err)) {
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

const struct json *call_detail(const struct rpc_message *reply)
{
    return json_member(json_member(reply->error, "data"), "detail");
}

bool call_hub(const struct arguments *arguments, struct client *link, const char *method,
              const char *params_json, struct rpc_message *ret_reply)
{
    struct error err;

    if (client_call_and_wait(link, method, params_json, ret_reply, &err))
        return true;
    say_error(arguments, &err, call_detail(ret_reply));
    return false;
}

bool call_expect(const struct arguments *arguments, const struct json *part, const char *member)
{
    struct error err;

    if (json_member_text(part, member))
        return true;
    error_say(&err, ERROR_unavailable, "", TEXT_REASON_HUB_REPLY, NULL);
    say_error(arguments, &err, NULL);
    return false;
}

static bool add_params(struct text *out, const char *key, const char *value)
{
    struct json_writer writer = json_object_to(out);

    if (value)
        json_write_text(&writer, key, value);
    json_write_end_object(&writer);
    return true;
}

char *call_params(const char *key, const char *value)
{
    struct text out = { 0 };

    add_params(&out, key, value);
    return text_take(&out);
}

void call_confirm(struct client *link, const char *result_of, const char *notices_of)
{
    struct text params = { 0 };
    struct json_writer writer = json_object_to(&params);
    struct rpc_message reply = { 0 };
    struct error err;

    json_write_list(&writer, "session_ids");
    if (result_of)
        json_write_text(&writer, NULL, result_of);
    json_write_end_list(&writer);
    json_write_list(&writer, "with_notices");
    if (notices_of)
        json_write_text(&writer, NULL, notices_of);
    json_write_end_list(&writer);
    json_write_end_object(&writer);
    for (int try = 0; try < 2 && !reply.root; try++)
        client_call_and_wait(link, "ask/delivered", text_string(&params), &reply, &err);
    rpc_release(&reply);
    text_release(&params);
}

bool act_write_id(const struct arguments *arguments, struct text *params)
{
    return add_params(params, "id", arguments->words[1]);
}

bool act_write_session(const struct arguments *arguments, struct text *params)
{
    return add_params(params, "session_id", arguments->words[0]);
}

static bool finish(const struct arguments *arguments, const struct act *act, struct client *link,
                   const struct json *result)
{
    const struct json *shown = act->shown ? json_member(result, act->shown) : result;

    if (act->finish)
        return act->finish(arguments, link, result);
    if (arguments->is_json)
        say_value(shown);
    else if (act->print)
        act->print(arguments, result);
    else if (json_length(shown) == 0)
        say_note(act->none);
    for (size_t i = 0; !arguments->is_json && act->print_item && i < json_length(shown); i++)
        act->print_item(arguments, json_item(shown, i));
    return true;
}

static enum exit_code act_run(const struct arguments *arguments, const struct act *act)
{
    struct rpc_message reply = { 0 };
    struct client *link = NULL;
    struct text params = { 0 };
    enum exit_code code = EXIT_USAGE;

    if (!act->write)
        text_add_text(&params, "{}");
    if (!act->write || act->write(arguments, &params)) {
        code = EXIT_ERROR;
        if (call_open(arguments, &call_person, &link) &&
            call_hub(arguments, link, act->method, text_string(&params), &reply) &&
            finish(arguments, act, link, reply.result))
            code = EXIT_DONE;
    }
    rpc_release(&reply);
    client_free(link);
    text_release(&params);
    return code;
}

enum exit_code act_choose(const struct arguments *arguments)
{
    const struct verb *verb = arguments->verb;
    const char *name = arguments->word_count ? arguments->words[0] : verb->acts[0].name;

    if (!verb->acts[0].name)
        return act_run(arguments, &verb->acts[0]);
    for (size_t i = 0; i < verb->act_count; i++) {
        if (strcmp(verb->acts[i].name, name) == 0 &&
            (arguments->word_count == verb->acts[i].words || arguments->word_count == 0))
            return act_run(arguments, &verb->acts[i]);
    }
    return say_needs(arguments, verb->syntax);
}

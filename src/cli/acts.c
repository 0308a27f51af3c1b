/* acts.c - see acts.h. */
#include "cli/acts.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "cli/call.h"
#include "cli/say.h"

bool acts_write_nothing(const struct arguments *arguments, struct text *params)
{
    (void)arguments;
    text_add_text(params, "{}");
    return true;
}

bool acts_write_id(const struct arguments *arguments, struct text *params)
{
    struct json_writer writer = json_writer_to(params);

    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", arguments->words[1]);
    json_write_end_object(&writer);
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

static enum exit_code run_act(const struct arguments *arguments, const struct act *act)
{
    struct wire_message reply = { 0 };
    struct link *link = NULL;
    struct text params = { 0 };
    enum exit_code code = EXIT_USAGE;

    if (act->write(arguments, &params)) {
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

enum exit_code acts_run(const struct arguments *arguments, const struct act *acts, size_t count,
                        const char *syntax)
{
    const char *name = arguments->word_count ? arguments->words[0] : acts[0].name;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(acts[i].name, name) == 0 &&
            (arguments->word_count == acts[i].words || arguments->word_count == 0))
            return run_act(arguments, &acts[i]);
    }
    say_problem(TEXT_CLI_NEEDS_ARGUMENT, "verb", arguments->verb->name, "name", syntax);
    return EXIT_USAGE;
}

/* rule_case.c - see rule_case.h. */
#include "engine/rule_case.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/arguments.h"
#include "engine/acts.h"
#include "engine/describe.h"

bool rule_case_begin(struct rule_case *read, const struct store_row *row)
{
    const struct ask *ask = &row->ask;
    const struct ask_tool *tool = ask->tool ? ask_tool_find(ask->tool) : NULL;

    *read = (struct rule_case){ 0 };
    if (!tool || !ask->form_json ||
        !form_parse(ask->form_json, strlen(ask->form_json), &read->form, NULL))
        return false;
    if (ask->origin_json)
        json_parse(ask->origin_json, strlen(ask->origin_json), &read->origin, NULL);
    read->subject = (struct rule_subject){
        .principal = ask->principal,
        .directory = json_member_text(read->origin, "directory"),
        .tool = tool->name,
        .form = &read->form,
    };
    return true;
}

void rule_case_end(struct rule_case *read)
{
    form_release(&read->form);
    json_free(read->origin);
}

static const char *agent_of(const struct rule_case *read)
{
    const char *agent = json_member_text(read->origin, "as");

    return agent ? agent : json_member_text(read->origin, "name");
}

void rule_case_write(const struct rule_case *read, const struct store_row *row, bool any_prompt,
                     struct json_writer *writer)
{
    json_write_text(writer, "from", row->ask.id);
    json_write_text(writer, "tool", row->ask.tool);
    json_write_text(writer, "title", row->ask.title);
    json_write_text(writer, "agent", agent_of(read));
    json_write_text(writer, "directory", read->subject.directory);
    json_write_bool(writer, "any_prompt", any_prompt);
    history_write_answer(writer, row);
}

void rule_case_write_shown(const struct rule_case *read, const struct store_row *row,
                           struct json_writer *writer)
{
    describe_shown(row->ask.title, agent_of(read), read->subject.directory, writer);
}

void rule_facts_write_shown(const char *facts_json, struct json_writer *writer)
{
    struct json *facts = NULL;

    if (json_parse(facts_json, strlen(facts_json), &facts, NULL))
        describe_shown(json_member_text(facts, "title"), json_member_text(facts, "agent"),
                       json_member_text(facts, "directory"), writer);
    json_free(facts);
}

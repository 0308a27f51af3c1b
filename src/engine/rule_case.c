/* rule_case.c - see rule_case.h. */
#include "engine/rule_case.h"

#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "core/arguments.h"

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

void rule_case_write(const struct rule_case *read, const struct store_row *row, bool any_prompt,
                     struct json_writer *writer)
{
    const char *agent = json_member_text(read->origin, "as");

    agent = agent ? agent : json_member_text(read->origin, "name");
    json_write_text(writer, "from", row->ask.id);
    json_write_text(writer, "tool", row->ask.tool);
    json_write_text(writer, "title", row->ask.title);
    json_write_text(writer, "agent", agent);
    json_write_text(writer, "directory", read->subject.directory);
    json_write_bool(writer, "any_prompt", any_prompt);
    history_write_answer(writer, row);
}

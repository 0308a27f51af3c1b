/* record.c - see record.h. An answer is as core/answer.c writes it: the first field's picks
 * and words stand for themselves, everything else under the names of the fields. */
#include "cli/history/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/say.h"
#include "core/visible_text.h"

static const struct json *answer_of(const struct json *record)
{
    const struct json *answer = json_member(record, "answer");
    const struct json *result = json_member(record, "result");

    if (json_kind(answer) == KIND_OBJECT)
        return answer;
    return json_member(result, "selection"); /* the defaults were sent at the deadline */
}

size_t record_field_count(const struct json *record)
{
    return json_length(json_member(json_member(record, "form"), "fields"));
}

static void take_value(const struct json *value, struct given *out)
{
    switch (json_kind(value)) {
    case KIND_LIST:
        out->picks = value;
        break;
    case KIND_OBJECT: /* picks and own words */
        out->picks = json_member(value, "selected_ids");
        out->text = json_member_text(value, "custom_input");
        break;
    case KIND_TEXT:
        out->text = json_text(value);
        break;
    case KIND_BOOL:
    case KIND_INTEGER:
    case KIND_REAL:
        out->value = value;
        break;
    case KIND_NULL:
    case KIND_HUGE:
        break;
    }
}

struct given record_given(const struct json *record, size_t index)
{
    const struct json *answer = answer_of(record);
    const struct json *fields = json_member(json_member(record, "form"), "fields");
    struct given given = { .field = json_item(fields, index) };
    const char *name = json_member_text(given.field, "name");

    if (name) {
        take_value(json_member_n(json_member(answer, "fields"), name, strlen(name)), &given);
        given.note =
            json_text(json_member_n(json_member(answer, "field_annotations"), name, strlen(name)));
    }
    if (index == 0 && json_member(answer, "selected_ids"))
        given.picks = json_member(answer, "selected_ids");
    if (index == 0 && json_member_text(answer, "custom_input"))
        given.text = json_member_text(answer, "custom_input");
    if (given.text && !*given.text)
        given.text = NULL;
    return given;
}

bool record_is_picked(const struct given *given, const struct json *option)
{
    const char *id = json_member_text(option, "id");

    for (size_t i = 0; id && i < json_length(given->picks); i++) {
        const char *picked = json_text(json_item(given->picks, i));

        if (picked && strcmp(picked, id) == 0)
            return true;
    }
    return false;
}

static void add_part(struct text *out, size_t start, const char *between, const char *words)
{
    if (out->used > start)
        text_add_text(out, between);
    visible_text(words, strlen(words), VISIBLE_LINES, out);
}

void record_add_value(const struct given *given, const char *between, struct text *out)
{
    const struct json *options = json_member(given->field, "options");
    size_t start = out->used;

    for (size_t i = 0; i < json_length(options); i++) {
        const char *label = json_member_text(json_item(options, i), "label");

        if (label && record_is_picked(given, json_item(options, i)))
            add_part(out, start, between, label);
    }
    if (given->text)
        add_part(out, start, between, given->text);
    if (json_kind(given->value) == KIND_BOOL) {
        add_part(out, start, between,
                 i18n_text(json_is_yes(given->value) ? TEXT_TUI_YES : TEXT_TUI_NO));
    } else if (given->value) {
        char *number = json_encode(given->value);

        add_part(out, start, between, number);
        free(number);
    }
}

static void add_line(const struct json *record, struct text *out)
{
    char *encoded = json_encode(record);

    text_add_text(out, "{\"sayso_export\":1,");
    say_add_json(out, encoded + 1); /* behind the brace that opens it */
    text_add_char(out, '\n');
    free(encoded);
}

const struct record_format record_jsonl = { "jsonl", NULL, add_line };

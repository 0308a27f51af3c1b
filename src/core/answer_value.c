/* answer_value.c - one value of an answer against its field: read, then judged by its kind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/answer_inside.h"
#include "core/limits.h"
#include "core/text_format.h"
#include "core/visible_text.h"

/* Steps are written as decimal fractions, which doubles miss by a little. */
static const double STEP_TOLERANCE = 1e-6;

bool answer_refuse_id(const struct field *field, const char *path, struct error *err)
{
    struct text ids = { .max_bytes = LIMIT_ECHO_CHARS }, next = { 0 };

    for (size_t i = 0; i < field->option_count && !ids.has_overflowed; i++) {
        const char *id = field->options[i].id;

        text_clear(&next);
        text_add_text(&next, i ? ", " : "");
        visible_text(id, strlen(id), VISIBLE_ONE_LINE, &next);
        text_add(&ids, text_string(&next), next.used);
    }
    error_set(err, ERROR_bad_enum, path, "no option has this id; the ids are: %s%s",
              text_string(&ids), ids.has_overflowed ? ", ..." : "");
    text_release(&next);
    text_release(&ids);
    return false;
}

static bool read_pick(const struct field *field, const struct json *id, const char *path,
                      struct field_value *value, struct error *err)
{
    const struct option *option;
    bool *is_selected;

    if (!answer_check_text(id, path, err))
        return false;
    option = field_find_option(field, json_text(id));
    if (!option)
        return answer_refuse_id(field, path, err);
    is_selected = &value->is_selected[option - field->options];
    if (*is_selected)
        return error_set(err, ERROR_duplicate_option_id, path, "this id was given before");
    *is_selected = true;
    return true;
}

/* A list of ids, or one id. What is said replaces the defaults, an empty list too. */
void answer_read_picks(const struct field *field, const struct said *said,
                       struct field_value *value, struct mistakes *mistakes)
{
    bool is_list = json_kind(said->picks) == KIND_LIST;
    size_t count = is_list ? json_length(said->picks) : 1;

    for (size_t i = 0; i < value->option_count; i++)
        value->is_selected[i] = false;
    for (size_t i = 0; i < count && mistakes->count < mistakes->most; i++) {
        const struct json *id = is_list ? json_item(said->picks, i) : said->picks;
        char path[48];

        snprintf(path, sizeof path, is_list ? "%s/%zu" : "%s", said->picks_path, i);
        mistakes_count(mistakes, read_pick(field, id, path, value, mistakes_next(mistakes)));
    }
}

bool answer_read_words(const struct said *said, struct field_value *value, struct error *err)
{
    if (!answer_check_text(said->words, said->words_path, err))
        return false;
    if (json_length(said->words) > LIMIT_ANSWER_TEXT_BYTES)
        return error_set(err, ERROR_too_long, said->words_path, "must have at most %d bytes",
                         LIMIT_ANSWER_TEXT_BYTES);
    free(value->text); /* what is said replaces the default, nothing too */
    value->text = answer_has_visible(said->words) ? mem_text(json_text(said->words)) : NULL;
    return true;
}

static bool is_on_step(const struct field *field, double number)
{
    double steps = (number - (field->has_minimum ? field->minimum : 0)) / field->step;

    return fabs(steps - round(steps)) <= STEP_TOLERANCE;
}

/* null leaves the field empty, whatever stood there. */
static bool read_number(const struct field *field, const struct json *scalar,
                        struct field_value *value, struct error *err)
{
    enum json_kind kind = json_kind(scalar);
    double number = json_number_of(scalar);

    value->has_number = false;
    if (kind == KIND_NULL)
        return true;
    if (kind != KIND_INTEGER && kind != KIND_REAL)
        return answer_refuse_type(scalar, "", "a number", err);
    if (field->is_integer && floor(number) != number)
        return error_set(err, ERROR_out_of_range, "", "must be a whole number");
    if (field->has_minimum && number < field->minimum)
        return error_set(err, ERROR_out_of_range, "", "must be at least %g", field->minimum);
    if (field->has_maximum && number > field->maximum)
        return error_set(err, ERROR_out_of_range, "", "must be at most %g", field->maximum);
    if (field->step > 0 && !is_on_step(field, number))
        return error_set(err, ERROR_out_of_range, "", "must go in steps of %g", field->step);
    value->has_number = true;
    value->number = number;
    return true;
}

static bool read_confirm(const struct field *field, const struct json *scalar,
                         struct field_value *value, struct error *err)
{
    (void)field;
    value->has_confirm = false;
    if (json_kind(scalar) == KIND_NULL)
        return true;
    if (json_kind(scalar) != KIND_BOOL)
        return error_set(err, ERROR_bad_type, "", "must be yes or no (in JSON: true or false)");
    value->has_confirm = true;
    value->confirmed = json_is_yes(scalar);
    return true;
}

size_t answer_count_picks(const struct field_value *value)
{
    size_t count = 0;

    for (size_t i = 0; i < value->option_count; i++)
        count += value->is_selected[i];
    return count;
}

static bool refuse_count(const struct field *field, const char *path, struct error *err)
{
    long long least = field->min_selections, most = field->max_selections;
    bool may_write = field->kind == FIELD_HYBRID;

    if (least == 0)
        return error_set(err, ERROR_out_of_range, path, "choose at most %lld", most);
    if (least == most && may_write)
        return error_set(err, ERROR_out_of_range, path, "choose %lld, or answer in your own words",
                         least);
    if (least == most)
        return error_set(err, ERROR_out_of_range, path, "choose %lld", least);
    if (may_write)
        return error_set(err, ERROR_out_of_range, path,
                         "choose %lld to %lld, or answer in your own words", least, most);
    return error_set(err, ERROR_out_of_range, path, "choose %lld to %lld", least, most);
}

/* In hybrid, own words count as meeting the minimum. */
static bool judge_picks(const struct field *field, const struct said *said,
                        const struct field_value *value, struct error *err)
{
    int64_t count = (int64_t)answer_count_picks(value);

    if (count == 0 && (value->text || !field->is_required))
        return true;
    if (count == 0 && field->kind == FIELD_SINGLE)
        return error_set(err, ERROR_missing_property, said->picks_path, "choose one option");
    if (count > field->max_selections || (count < field->min_selections && !value->text))
        return refuse_count(field, said->picks_path, err);
    return true;
}

/* Minimums look at what is visible, maximums at what was received. */
static bool judge_words(const struct field *field, const struct said *said,
                        const struct field_value *value, struct error *err)
{
    const char *text = value->text, *path = said->words_path;

    if (!text && field->is_required)
        return error_set(err, ERROR_empty_text, path, "write something that can be seen");
    if (!text)
        return true;
    if (field->min_chars > 0 &&
        (int64_t)visible_count(text, strlen(text), (size_t)field->min_chars) < field->min_chars)
        return error_set(err, ERROR_too_short, path, "must have at least %lld characters",
                         (long long)field->min_chars);
    if (field->max_chars > 0 && (int64_t)text_count(text, strlen(text)) > field->max_chars)
        return error_set(err, ERROR_too_long, path, "must have at most %lld characters",
                         (long long)field->max_chars);
    return !field->format || text_format_check(field->format, text, path, err);
}

static bool judge_scalar(const struct field *field, const struct said *said,
                         const struct field_value *value, struct error *err)
{
    (void)said;
    if (field->is_required && !value->has_number && !value->has_confirm)
        return error_set(err, ERROR_missing_property, "", "this field needs a value");
    return true;
}

static const struct answer_rule kinds[FIELD_KIND_COUNT] = {
    [FIELD_SINGLE] = { .takes_picks = true, .judge = judge_picks },
    [FIELD_MULTI] = { .takes_picks = true, .judge = judge_picks },
    [FIELD_TEXT] = { .takes_words = true, .judge = judge_words },
    [FIELD_HYBRID] = { .takes_picks = true, .takes_words = true, .judge = judge_picks },
    [FIELD_NUMBER] = { .read = read_number, .judge = judge_scalar },
    [FIELD_CONFIRM] = { .read = read_confirm, .judge = judge_scalar },
};

const struct answer_rule *answer_rule(enum field_kind kind)
{
    return &kinds[kind];
}

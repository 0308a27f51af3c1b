/* field_class.c - one value of an answer by the kind of its field: read, judged, written. */
#include "core/fields/field_class.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/known_clients.h"
#include "core/limits.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

#define DIGITS  "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

enum { DOMAIN_LABEL_BYTES = 63 };

/* `shape` has 9 for a digit; any other byte stands for itself. */
static bool has_shape(const char *text, const char *shape)
{
    for (; *shape != '\0'; shape++, text++) {
        if (*shape == '9' ? *text < '0' || *text > '9' : *text != *shape)
            return false;
    }
    return true;
}

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

static bool starts_with_date(const char *text)
{
    static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int century, year, month, day;

    if (!has_shape(text, "9999-99-99"))
        return false;
    century = two_digits(text);
    year = two_digits(text + 2);
    month = two_digits(text + 5);
    day = two_digits(text + 8);
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return false;
    return month != 2 || day < 29 || (year ? year : century) % 4 == 0;
}

static bool starts_with_clock(const char *text)
{
    return has_shape(text, "99:99") && two_digits(text) < 24 && two_digits(text + 3) < 60;
}

static bool is_date(const char *text)
{
    return starts_with_date(text) && text[10] == '\0';
}

/* RFC 3339. */
static bool is_date_time(const char *text)
{
    if (!starts_with_date(text) || (text[10] != 'T' && text[10] != 't') ||
        !starts_with_clock(text + 11) || !has_shape(text + 16, ":99") || two_digits(text + 17) > 59)
        return false;
    text += 19;
    if (has_shape(text, ".9"))
        text += 1 + strspn(text + 1, DIGITS);
    if (*text == 'Z' || *text == 'z')
        return text[1] == '\0';
    return (*text == '+' || *text == '-') && starts_with_clock(text + 1) && text[6] == '\0';
}

/* As browsers judge <input type=email>, so that no channel takes what another refuses. */
static bool is_email(const char *text)
{
    size_t length = strspn(text, LETTERS DIGITS ".!#$%&'*+/=?^_`{|}~-");

    if (length == 0 || text[length] != '@')
        return false;
    do {
        text += length + 1;
        length = strspn(text, LETTERS DIGITS "-");
        if (length == 0 || length > DOMAIN_LABEL_BYTES || text[0] == '-' || text[length - 1] == '-')
            return false;
    } while (text[length] == '.');
    return text[length] == '\0';
}

/* RFC 3986: a scheme, a colon, and then only what may stand in a URI. */
static bool is_uri(const char *text)
{
    size_t scheme = strspn(text, LETTERS DIGITS "+-.");
    const char *rest = text + scheme + 1;

    if (strspn(text, LETTERS) == 0 || text[scheme] != ':' || *rest == '\0')
        return false;
    for (const char *sign = strchr(rest, '%'); sign; sign = strchr(sign + 1, '%')) {
        if (strspn(sign + 1, DIGITS "abcdefABCDEF") < 2)
            return false;
    }
    return rest[strspn(rest, LETTERS DIGITS "-._~:/?#[]@!$&'()*+,;=%")] == '\0';
}

const char *const text_format_names[] = { "email", "uri", "date", "date-time", NULL };

/* In the same order. */
static const struct {
    bool (*is_so)(const char *text);
    const char *wanted;
} formats[] = {
    { is_email, "an e-mail address such as ada@example.org" },
    { is_uri, "an address such as https://example.org/" },
    { is_date, "a date such as 2026-11-15" },
    { is_date_time, "a date and time such as 2026-11-15T12:00:00Z" },
};

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
    text_clear(&next);
    text_add_format(&next, "%s%s", text_string(&ids), ids.has_overflowed ? ", ..." : "");
    error_say(err, ERROR_bad_enum, path, TEXT_REASON_NO_OPTION, "ids", text_string(&next), NULL);
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
        return error_say(err, ERROR_duplicate_option_id, path, TEXT_REASON_GIVEN_BEFORE, NULL);
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
    for (size_t i = 0; i < count && mistakes->count < mistakes->max; i++) {
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
        return error_say(err, ERROR_too_long, said->words_path, TEXT_REASON_MOST_BYTES, "limit",
                         TEXT_NUMBER(LIMIT_ANSWER_TEXT_BYTES), NULL);
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
        return error_say(err, ERROR_out_of_range, "", TEXT_REASON_WHOLE_NUMBER, NULL);
    if (field->has_minimum && number < field->minimum)
        return error_say(err, ERROR_out_of_range, "", TEXT_REASON_AT_LEAST, "least",
                         TEXT_SHORT(field->minimum), NULL);
    if (field->has_maximum && number > field->maximum)
        return error_say(err, ERROR_out_of_range, "", TEXT_REASON_AT_MOST, "most",
                         TEXT_SHORT(field->maximum), NULL);
    if (field->step > 0 && !is_on_step(field, number))
        return error_say(err, ERROR_out_of_range, "", TEXT_REASON_STEPS, "step",
                         TEXT_SHORT(field->step), NULL);
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
        return error_say(err, ERROR_bad_type, "", TEXT_REASON_ANSWER_YES_NO, NULL);
    value->has_confirm = true;
    value->confirmed = json_is_true(scalar);
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
    int64_t min = field->min_selections, max = field->max_selections;
    bool may_write = class_of(field)->has_words;
    enum text_id text = TEXT_REASON_CHOOSE_MOST;

    if (min > 0 && min == max)
        text = may_write ? TEXT_REASON_CHOOSE_COUNT_OR_WRITE : TEXT_REASON_CHOOSE_COUNT;
    else if (min > 0)
        text = may_write ? TEXT_REASON_CHOOSE_RANGE_OR_WRITE : TEXT_REASON_CHOOSE_RANGE;
    return error_say(err, ERROR_out_of_range, path, text, "count", TEXT_NUMBER(min), "least",
                     TEXT_NUMBER(min), "most", TEXT_NUMBER(max), NULL);
}

/* In hybrid, own words count as meeting the minimum. */
static bool judge_picks(const struct field *field, const struct said *said,
                        const struct field_value *value, struct error *err)
{
    int64_t count = (int64_t)answer_count_picks(value);

    if (count == 0 && (value->text || !field->is_required))
        return true;
    if (count == 0 && class_of(field)->is_exclusive)
        return error_say(err, ERROR_missing_property, said->picks_path, TEXT_REASON_CHOOSE_ONE,
                         NULL);
    if (count > field->max_selections || (count < field->min_selections && !value->text))
        return refuse_count(field, said->picks_path, err);
    return true;
}

/* Minimums look at what is visible, maximums at what was received. */
static bool judge_words(const struct field *field, const struct said *said,
                        const struct field_value *value, struct error *err)
{
    const char *text = value->text, *path = said->words_path;
    size_t format;

    if (!text && field->is_required)
        return error_say(err, ERROR_empty_text, path, TEXT_REASON_WRITE_SOMETHING, NULL);
    if (!text)
        return true;
    if (field->min_chars > 0 &&
        (int64_t)visible_count(text, strlen(text), (size_t)field->min_chars) < field->min_chars)
        return error_say(err, ERROR_too_short, path, TEXT_REASON_LEAST_CHARACTERS, "limit",
                         TEXT_NUMBER(field->min_chars), NULL);
    if (field->max_chars > 0 && (int64_t)text_count(text, strlen(text)) > field->max_chars)
        return error_say(err, ERROR_too_long, path, TEXT_REASON_MOST_CHARACTERS, "limit",
                         TEXT_NUMBER(field->max_chars), NULL);
    format = text_index(field->format, text_format_names, ARRAY_LEN(formats));
    return format == ARRAY_LEN(formats) || formats[format].is_so(text) || /* one of ours, or any */
           error_say(err, ERROR_bad_format, path, TEXT_REASON_ANSWER_FORMAT, "hint",
                     formats[format].wanted, NULL);
}

static bool judge_scalar(const struct field *field, const struct said *said,
                         const struct field_value *value, struct error *err)
{
    (void)said;
    if (field->is_required && !value->has_number && !value->has_confirm)
        return error_say(err, ERROR_missing_property, "", TEXT_REASON_NEEDS_VALUE, NULL);
    return true;
}

static void write_pick(struct json_writer *writer, const struct field *field,
                       const struct field_value *value)
{
    for (size_t i = 0; i < value->option_count; i++) {
        if (value->is_selected[i])
            json_write_text(writer, NULL, field->options[i].id);
    }
}

static void write_picks(struct json_writer *writer, const struct field *field,
                        const struct field_value *value)
{
    answer_write_picks(writer, NULL, field, value);
}

static void write_value(struct json_writer *writer, const struct field *field,
                        const struct field_value *value)
{
    (void)field;
    if (value->has_number)
        json_write_number(writer, NULL, value->number);
    else if (value->has_confirm)
        json_write_bool(writer, NULL, value->confirmed);
    else
        json_write_text(writer, NULL, value->text);
}

static void write_words_stored(struct json_writer *writer, const struct field *field,
                               const struct field_value *value)
{
    (void)field;
    json_write_text(writer, NULL, value->text ? value->text : "");
}

static void write_hybrid_stored(struct json_writer *writer, const struct field *field,
                                const struct field_value *value)
{
    json_write_object(writer, NULL);
    answer_write_picks(writer, "selected_ids", field, value);
    if (value->text)
        json_write_text(writer, "custom_input", value->text);
    json_write_end_object(writer);
}

/* What a client's own form brings back. */

/* Until no field is called so. */
static void make_free(const struct form *form, struct text *key)
{
    while (form_find_field(form, text_string(key)))
        text_add_char(key, '_');
}

void client_form_option_key(const struct form *form, size_t field, size_t option, struct text *out)
{
    text_add_format(out, "%s_%zu", form->fields[field].name, option + 1);
    make_free(form, out);
}

void client_form_words_key(const struct form *form, size_t field, struct text *out)
{
    text_add_format(out, "%s_own_words", form->fields[field].name);
    make_free(form, out);
}

void client_form_note_key(const struct form *form, struct text *out)
{
    text_add_text(out, "note");
    make_free(form, out);
}

static const struct json *client_take(struct client_reading *reading, const char *key)
{
    const struct json *value = json_member(reading->content, key);

    reading->known += value != NULL;
    return json_kind(value) == KIND_NULL ? NULL : value;
}

/* The value under the field's own name. */
static const struct json *client_take_own(struct client_reading *reading, size_t field)
{
    return client_take(reading, reading->form->fields[field].name);
}

static void write_given(struct json_writer *writer, const char *key, const struct json *value,
                        const char *fallback)
{
    if (value)
        json_write_value(writer, key, value);
    else
        json_write_raw(writer, key, fallback);
}

/* Yes, no, or neither: -1. */
static int answer_of(const struct json *value)
{
    const char *text = json_text(value);

    if (json_kind(value) == KIND_BOOL)
        return json_is_true(value);
    return text && strcmp(text, CLIENT_FORM_YES) == 0  ? 1
           : text && strcmp(text, CLIENT_FORM_NO) == 0 ? 0
                                                       : -1;
}

/* A yes or no for each option. What is neither becomes what no list of ids may hold. */
static void client_yeses(struct client_reading *reading, size_t field)
{
    const struct field *asked = &reading->form->fields[field];

    json_write_list(reading->writer, NULL);
    for (size_t i = 0; i < asked->option_count; i++) {
        struct text key = { 0 };
        const struct json *value;

        client_form_option_key(reading->form, field, i, &key);
        value = client_take(reading, text_string(&key));
        text_release(&key);
        if (answer_of(value) > 0)
            json_write_text(reading->writer, NULL, asked->options[i].id);
        else if (value && answer_of(value) < 0)
            json_write_null(reading->writer, NULL);
    }
    json_write_end_list(reading->writer);
}

static void client_picks(struct client_reading *reading, size_t field)
{
    const struct json *value = client_take_own(reading, field);

    if (value)
        json_write_value(reading->writer, NULL, value);
    else
        client_yeses(reading, field);
}

static void client_pick(struct client_reading *reading, size_t field)
{
    write_given(reading->writer, NULL, client_take_own(reading, field), "[]");
}

static void client_words(struct client_reading *reading, size_t field)
{
    write_given(reading->writer, NULL, client_take_own(reading, field), "\"\"");
}

/* Some clients offer words of one's own with every list, under the list's key. */
static bool is_own_words(const struct field *field, const struct json *value)
{
    const char *text = json_text(value);

    return text && strlen(text) == json_length(value) && !field_find_option(field, text);
}

static void client_hybrid(struct client_reading *reading, size_t field)
{
    const struct field *asked = &reading->form->fields[field];
    const struct json *value = json_member(reading->content, asked->name), *words;
    struct json_writer *writer = reading->writer;
    struct text key = { 0 };
    bool is_words = is_own_words(asked, value);

    client_form_words_key(reading->form, field, &key);
    words = client_take(reading, text_string(&key));
    text_release(&key);
    json_write_object(writer, NULL);
    json_write_foreign_key(writer, "selected_ids");
    if (is_words && !words) {
        words = client_take(reading, asked->name);
        json_write_raw(writer, NULL, "[]");
    } else if (json_text(value)) { /* an untouched list may come back as an empty text */
        json_write_list(writer, NULL);
        value = client_take(reading, asked->name);
        if (json_length(value) > 0)
            json_write_value(writer, NULL, value);
        json_write_end_list(writer);
    } else {
        client_picks(reading, field);
    }
    write_given(writer, "custom_input", words, "\"\"");
    json_write_end_object(writer);
}

/* A client that has no fields for numbers was given one for text. */
static bool is_number(const struct json *value, double *ret_number)
{
    const char *text = json_text(value);
    char *end;

    if (!text || !*text || strlen(text) != json_length(value) ||
        strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    *ret_number = strtod(text, &end);
    return *end == '\0' && isfinite(*ret_number);
}

static void client_number(struct client_reading *reading, size_t field)
{
    const struct json *value = client_take_own(reading, field);
    double number;

    if (is_number(value, &number))
        json_write_number(reading->writer, NULL, number);
    else if (json_text(value) && json_length(value) == 0)
        json_write_null(reading->writer, NULL);
    else
        write_given(reading->writer, NULL, value, "null");
}

static void client_confirm(struct client_reading *reading, size_t field)
{
    const struct json *value = client_take_own(reading, field);

    if (answer_of(value) < 0)
        write_given(reading->writer, NULL, value, "null");
    else
        json_write_bool(reading->writer, NULL, answer_of(value));
}

#define FIELD_KIND(id, name, ...) [FIELD_##id] = { __VA_ARGS__ },
const struct field_class field_classes[FIELD_KIND_COUNT] = {
#include "core/field_kinds.def"
};
#undef FIELD_KIND

const struct field_class *class_find(const char *name)
{
    return &field_classes[form_name_find(field_kind_names, name, 0)];
}

bool class_is_scalar(const struct field_class *class)
{
    return !class->has_options && !class->has_words;
}

bool class_is_text(const struct field_class *class)
{
    return !class->has_options && class->has_words;
}

static void write_note(struct client_reading *reading)
{
    struct text key = { 0 };
    const struct json *note;

    client_form_note_key(reading->form, &key);
    note = client_take(reading, text_string(&key));
    text_release(&key);
    if (note && json_length(note) > 0)
        json_write_value(reading->writer, "global_annotation", note);
}

bool client_form_read(const struct form *form, const struct json *content, struct text *out,
                      struct error *err)
{
    struct json_writer writer = json_writer_to(out);
    struct client_reading reading = { form, content, &writer, 0 };

    if (json_kind(content) != KIND_OBJECT)
        return error_set(err, ERROR_bad_type, "", "the form's values must be an object");
    json_write_object(&writer, NULL);
    json_write_object(&writer, "fields");
    for (size_t i = 0; i < form->field_count; i++) {
        json_write_foreign_key(&writer, form->fields[i].name);
        class_of(&form->fields[i])->read_client(&reading, i);
    }
    json_write_end_object(&writer);
    if (reading.known == 0)
        return error_set(err, ERROR_missing_property, "",
                         "it was accepted without any of the values asked for");
    write_note(&reading);
    json_write_end_object(&writer);
    return true;
}

enum client_verdict client_form_judge(const char *client_name, const char *action, int64_t shown_ms)
{
    bool was_seen = shown_ms >= CLIENT_FORM_SEEN_MS;

    if (action && strcmp(action, "accept") == 0)
        return CLIENT_ANSWERS;
    if (action && strcmp(action, "decline") == 0)
        return was_seen || known_client(client_name)->only_cancels ? CLIENT_DECLINES
                                                                   : CLIENT_FAILED;
    return action && strcmp(action, "cancel") == 0 && was_seen ? CLIENT_CANCELS : CLIENT_FAILED;
}

bool client_form_is_broken(int64_t fact, int64_t utc_ms)
{
    return fact < 0 && utc_ms + fact < CLIENT_FORM_BROKEN_MS;
}

int64_t client_form_learn(int64_t fact, bool worked, int64_t utc_ms)
{
    return worked || fact == CLIENT_FORM_WORKS ? CLIENT_FORM_WORKS : -utc_ms;
}

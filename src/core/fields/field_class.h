/*
 * field_class.h - what a kind of field is: a row of core/field_kinds.def, with what an answer may
 * hold there and the functions that read, judge and write it. Other code never compares kinds
 * (tools/check_style sees to it): it asks what the class has. A kind also has a row in
 * tui/field_view.c, in mcp/form_schema.c, in web/js/values.js, and in web/js/fields.js;
 * tests/unit/test_field_classes.c names what is missing.
 */
#ifndef CORE_FIELDS_FIELD_CLASS_H
#define CORE_FIELDS_FIELD_CLASS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fields/answer.h"

/* What was said about one field; NULL: nothing. Pointers are relative to where the field stands. */
struct said {
    const struct json *picks, *words, *scalar;
    const char *picks_path, *words_path;
    bool is_top; /* by selected_ids and custom_input of the answer itself */
};

/* The content of a client's own form while it becomes an answer. */
struct client_reading {
    const struct form *form;
    const struct json *content;
    struct json_writer *writer;
    size_t known; /* how much of the content was asked for */
};

struct field_class {
    bool has_options, has_words;
    bool is_exclusive; /* picking one unpicks the others */
    bool is_number, is_yes_no;
    /* A value that is neither picks nor words; NULL: these are all there is. */
    bool (*read)(const struct field *field, const struct json *scalar, struct field_value *value,
                 struct error *err);
    bool (*judge)(const struct field *field, const struct said *said,
                  const struct field_value *value, struct error *err);
    /* The value alone, as agents get it: an id or text, a list of ids, a number, true, false, null;
     * and as answer_check reads it below `fields`: picks are a list, what is gone is null or "". */
    void (*write)(struct json_writer *writer, const struct field *field,
                  const struct field_value *value);
    void (*write_stored)(struct json_writer *writer, const struct field *field,
                         const struct field_value *value);
    /* Writes what answer_check reads. */
    void (*read_client)(struct client_reading *reading, size_t field);
};

extern const struct field_class field_classes[FIELD_KIND_COUNT];

static inline const struct field_class *class_of(const struct field *field)
{
    return &field_classes[field->kind];
}

/* By its name; a kind of a newer program is read as the first. */
const struct field_class *class_find(const char *name);
bool class_is_scalar(const struct field_class *class); /* neither picks nor words */
bool class_is_text(const struct field_class *class);   /* words alone */

/* All that is wrong with an answer, as far as there is room: what has no end stops there. */
struct mistakes {
    struct error *errors; /* NULL: only counted */
    size_t count, max;
};

/* Where the next one is to be written, until mistakes_count says that it was one. */
struct error *mistakes_next(const struct mistakes *mistakes);
void mistakes_count(struct mistakes *mistakes, bool is_right);

void answer_read_picks(const struct field *field, const struct said *said,
                       struct field_value *value, struct mistakes *mistakes);
bool answer_read_words(const struct said *said, struct field_value *value, struct error *err);
size_t answer_count_picks(const struct field_value *value);

/* False. Puts parent/key before the error's path: a foreign key is shown escaped and cut. */
bool answer_error_below(struct error *err, const char *parent, const char *key);
bool answer_refuse_type(const struct json *value, const char *path, const char *wanted,
                        struct error *err);
bool answer_refuse_id(const struct field *field, const char *path, struct error *err);
bool answer_check_text(const struct json *value, const char *path, struct error *err);
bool answer_has_visible(const struct json *text);

/*
 * What an agent's own client brings back of a form it showed (R4.2, R4.3). The code that writes
 * the form (mcp/form_schema) and the code that reads the content agree on its keys here: a field's
 * name holds its value; an option that had to be a yes or no of its own, words beside options, and
 * the note have keys made from it. Which way a field was written shows in the content.
 */

/* What a yes or no may come back as, where a choice was offered instead. */
#define CLIENT_FORM_YES "yes"
#define CLIENT_FORM_NO  "no"

/* Each is appended; none is the name of a field. */
void client_form_option_key(const struct form *form, size_t field, size_t option, struct text *out);
void client_form_words_key(const struct form *form, size_t field, struct text *out);
void client_form_note_key(const struct form *form, struct text *out);

/* From content to what answer_check reads. What is not there is left empty, never the default:
 * the client may not have shown it. False: nothing in it was asked for. */
bool client_form_read(const struct form *form, const struct json *content, struct text *out,
                      struct error *err);

/* What a client's reply means. A person can't read a question and refuse it within 2 s: such a
 * reply says that no person was there, or nothing was shown. A decline still counts
 * if the client never declines by itself. */
enum { CLIENT_FORM_SEEN_MS = 2000 };
enum client_verdict { CLIENT_FAILED, CLIENT_ANSWERS, CLIENT_DECLINES, CLIENT_CANCELS };
enum client_verdict client_form_judge(const char *client_name, const char *action,
                                      int64_t shown_ms);

/*
 * What is known of a client's form: CLIENT_FORM_WORKS once a person has used it, which nothing
 * unlearns; or minus the UTC time at which it was found not to work, which counts for a day,
 * because the same program may run with a person in front of it next time; 0: nothing.
 */
enum { CLIENT_FORM_WORKS = 1, CLIENT_FORM_BROKEN_MS = 86400000 };
bool client_form_is_broken(int64_t fact, int64_t utc_ms);
int64_t client_form_learn(int64_t fact, bool worked, int64_t utc_ms);

/* Texts that must be an e-mail address, a URI, a date or a date with time. */

extern const char *const text_format_names[]; /* NULL-ended */

#endif

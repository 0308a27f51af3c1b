/*
 * answer.h - what a person decided: values and notes; the hub checks it against the form (R2.3).
 */
#ifndef CORE_FIELDS_ANSWER_H
#define CORE_FIELDS_ANSWER_H
#include <stdbool.h>
#include <stddef.h>

#include "core/fields/form.h"

struct json_writer;

/* Values of one field, in the order of the form's fields. */
struct field_value {
    bool *is_selected; /* one per option of the field, owned; NULL without options */
    size_t option_count;
    char *text; /* own words, or the value of a text field; NULL: none */
    bool has_number;
    double number;
    bool has_confirm;
    bool confirmed;
    char *note; /* on this field; NULL: none */
};
struct answer {
    struct field_value *values; /* one per field of the form */
    size_t value_count;
    char **option_notes; /* one per option of the first field, NULL where none; NULL if no notes */
    size_t option_note_count;
    char *global_note;      /* NULL: none */
    bool hides_placeholder; /* the person has switched the agent's hints off; kept, not read */
};

void answer_release(struct answer *answer);

/*
 * Reads {selected_ids?, custom_input?, fields? {name: value}, option_annotations? {id: text},
 * field_annotations? {name: text}, global_annotation?}: selected_ids and custom_input speak of the
 * first field, and so do the notes of options. A field that is not mentioned keeps its defaults
 * (R2.3); null or an empty text leaves it empty. Unknown ids, wrong counts, what is too long, notes
 * where they are off: false with the culprit's JSON pointer. Other members are the wire's: ignored.
 */
bool answer_check(const struct form *form, const struct json *given, struct answer *ret_answer,
                  struct error *err);
/*
 * Whether it takes the confirmation code: anything destructive chosen; and where the form is so as
 * a whole, whatever is not a no or a choice of safe options alone. All channels have this one rule.
 */
bool answer_needs_code(const struct form *form, const struct answer *answer);
/* The same of an answer still to be sent; false of one that the hub will refuse anyway. */
bool answer_will_need_code(const struct form *form, const char *given);
/* The same with all that is wrong: how many mistakes there are, counted up to `most`. */
size_t answer_read(const struct form *form, const struct json *given, struct answer *ret_answer,
                   struct error *ret_errors, size_t max);
/* Prefilled notes of chosen options stay unless `given` mentions them; an empty note there means
 * that it was removed. Only for answers as they come in: a stored answer is complete. */
void answer_keep_notes(const struct form *form, const struct json *given, struct answer *answer);
/* The answer made of the form's defaults alone, for auto-submission. */
void answer_from_defaults(const struct form *form, struct answer *ret_answer);

/* For the store: what answer_check reads back; equal answers are equal bytes. */
void answer_encode(const struct form *form, const struct answer *answer, struct text *out);
/* The ids chosen, in the order of the options. */
void answer_write_picks(struct json_writer *writer, const char *key, const struct field *field,
                        const struct field_value *value);
/* Something was picked, written or said. */
bool answer_has_value(const struct field_value *value);
/* field_annotations, where there are any. */
void answer_write_field_notes(struct json_writer *writer, const struct form *form,
                              const struct answer *answer);
/* option_annotations and global_annotation, where there are any. */
void answer_write_notes(struct json_writer *writer, const struct form *form,
                        const struct answer *answer);
/* Submitted with text alone (action_status custom_input). */
bool answer_is_text_only(const struct answer *answer);

#endif

/*
 * form.h - what every ask is made of: one to many fields, and the words around them.
 * A form is a plain value tree, filled by core/arguments from a tool's call and by form_parse from
 * what the store kept. Texts are as received; what a person sees of them is core/visible_text's.
 */
#ifndef CORE_FIELDS_FORM_H
#define CORE_FIELDS_FORM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct json;
struct text;

#define FIELD_KIND(id, ...) FIELD_##id,
enum field_kind {
#include "core/field_kinds.def"
    FIELD_KIND_COUNT,
};
#undef FIELD_KIND
enum preview_type { PREVIEW_NONE, PREVIEW_TEXT, PREVIEW_MARKDOWN, PREVIEW_CODE, PREVIEW_DIFF };
enum number_style { NUMBER_FIELD, NUMBER_SLIDER, NUMBER_RATING };
enum confirm_default { CONFIRM_OPEN, CONFIRM_NO, CONFIRM_YES };

struct preview {
    enum preview_type type;
    char *text, *language; /* owned; language may be NULL */
};

struct option {
    char *id, *label, *description, *annotation; /* owned; the last two may be NULL */
    bool is_recommended;
    bool is_default;     /* preselected; never where form_may_destroy */
    bool is_destructive; /* choosing it takes the confirmation code */
    struct preview preview;
};

struct field {
    char *name;        /* key of the value in an answer; provide_choice's only field is "choice" */
    char *label;       /* question or title of the field; may be NULL */
    char *header;      /* a word or two for it where there is little room; may be NULL */
    char *description; /* what to put there; may be NULL */
    enum field_kind kind;
    bool is_required;
    struct option *options;
    size_t option_count;
    int64_t min_selections, max_selections; /* MULTI and HYBRID; SINGLE is 1 and 1 */
    char *placeholder;                      /* may be NULL */
    bool placeholder_visible;
    int64_t min_chars, max_chars;              /* TEXT; max_chars 0 = only the general limit */
    char *format;                              /* TEXT: email, uri, date, date-time or NULL */
    bool is_integer, has_minimum, has_maximum; /* NUMBER */
    double minimum, maximum, step;
    char *unit;
    enum number_style style;
    /* What stands there before anyone acts, as is_default says of options. */
    char *default_text; /* TEXT; may be NULL */
    bool has_default_number;
    double default_number; /* NUMBER */
    enum confirm_default default_confirm;
};

struct form {
    char *title, *prompt; /* owned */
    struct field *fields;
    size_t field_count;
    bool allow_annotations;
    char *global_annotation; /* prefilled note; may be NULL */
    bool single_submit;      /* picking an option sends the answer */
    /* Every answer takes the code but a no and, where options say which, the others. */
    bool is_destructive;
    int64_t answered_ms; /* the same call, a moment ago, UTC; 0: it was not */
};

void form_release(struct form *form);

/* The store's representation; form_parse accepts exactly what form_encode writes (any version of
 * it that was ever released), and fails with bad_json on anything else. */
void form_encode(const struct form *form, struct text *out);
bool form_parse(const char *json, size_t length, struct form *ret_form, struct error *err);
bool form_read(const struct json *value, struct form *ret_form, struct error *err);

const struct field *form_find_field(const struct form *form, const char *name); /* may miss */
/* May miss. Ids are one where their NFC is: a channel may have normalised what it sends back. */
const struct option *field_find_option(const struct field *field, const char *id);
/* The first two options with one id (in NFC), or with labels that look alike; false: none. */
bool field_find_same_ids(const struct field *field, size_t *ret_first, size_t *ret_second);
bool field_find_same_labels(const struct field *field, size_t *ret_first, size_t *ret_second);
/* Enough defaults that a person's own setting may submit them at the deadline (R5.6). */
bool form_has_enough_defaults(const struct form *form);
bool form_has_confirm(const struct form *form);
/* Some answer takes the confirmation code: nothing is preselected, hidden or sent by picking. */
bool form_may_destroy(const struct form *form);
/* Fail closed: where the whole is destructive and no option says which, all are. */
bool form_option_destroys(const struct form *form, const struct option *option);
/* It has a value before the person acts, so that leaving it alone says something. */
bool field_has_default(const struct field *field);

/* Names by value, NULL-ended; "" is not a name. */
extern const char *const field_kind_names[];
extern const char *const preview_type_names[];
extern const char *const number_style_names[];
extern const char *const confirm_default_names[];
/* The value so named, or `otherwise`. */
unsigned form_name_find(const char *const *names, const char *name, unsigned fallback);

#endif

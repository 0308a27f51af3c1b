/*
 * form_json.c - the form as the store keeps it. One table per struct both writes and reads it.
 * What is false, zero or absent is not written. A member may be added with a new row and is then
 * absent in older rows of the store; a member's meaning changes only with FORM_VERSION.
 */
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/fields/form.h"
#include "core/limits.h"

enum { FORM_VERSION = 1 };

enum member_type {
    MEMBER_TEXT,
    MEMBER_BOOL,
    MEMBER_COUNT,  /* int64_t, never negative */
    MEMBER_NUMBER, /* double */
    MEMBER_BOUND,  /* double that is there when the bool at `beside` says so */
    MEMBER_NAME,   /* enum, written by its name; 0 is the default */
    MEMBER_OBJECT, /* struct, there when its first member is not the default */
    MEMBER_LIST,   /* structs, as many as the size_t at `beside` says */
};

struct member {
    const char *key;
    enum member_type type;
    size_t offset;
    size_t beside;
    bool is_required;
    const char *const *names;
    const struct shape *shape;
    size_t min, max; /* items of a list */
};
struct shape {
    const struct member *members;
    size_t count, bytes;
};

/* clang-format off */
/* A row: its name, its type, where it is; behind that what else holds of it. */
#define MEMBER(name, kind, ...) { .key = name, .type = MEMBER_##kind, .offset = __VA_ARGS__ }
#define SHAPE(name) { name##_members, ARRAY_LEN(name##_members), sizeof(struct name) }
/* clang-format on */
#define PREVIEW(name) offsetof(struct preview, name)
#define OPTION(name)  offsetof(struct option, name)
#define FIELD(name)   offsetof(struct field, name)
#define FORM(name)    offsetof(struct form, name)

static const struct member preview_members[] = {
    MEMBER("type", NAME, PREVIEW(type), .names = preview_type_names, .is_required = true),
    MEMBER("text", TEXT, PREVIEW(text), .is_required = true),
    MEMBER("language", TEXT, PREVIEW(language)),
};
static const struct shape preview_shape = SHAPE(preview);

static const struct member option_members[] = {
    MEMBER("id", TEXT, OPTION(id), .is_required = true),
    MEMBER("label", TEXT, OPTION(label), .is_required = true),
    MEMBER("description", TEXT, OPTION(description)),
    MEMBER("annotation", TEXT, OPTION(annotation)),
    MEMBER("recommended", BOOL, OPTION(is_recommended)),
    MEMBER("default", BOOL, OPTION(is_default)),
    MEMBER("destructive", BOOL, OPTION(is_destructive)),
    MEMBER("preview", OBJECT, OPTION(preview), .shape = &preview_shape),
};
static const struct shape option_shape = SHAPE(option);

static const struct member field_members[] = {
    MEMBER("name", TEXT, FIELD(name), .is_required = true),
    MEMBER("label", TEXT, FIELD(label)),
    MEMBER("header", TEXT, FIELD(header)),
    MEMBER("description", TEXT, FIELD(description)),
    MEMBER("kind", NAME, FIELD(kind), .names = field_kind_names, .is_required = true),
    MEMBER("required", BOOL, FIELD(is_required)),
    MEMBER("options", LIST, FIELD(options), .beside = FIELD(option_count), .shape = &option_shape,
           .max = LIMIT_OPTIONS),
    MEMBER("min_selections", COUNT, FIELD(min_selections)),
    MEMBER("max_selections", COUNT, FIELD(max_selections)),
    MEMBER("placeholder", TEXT, FIELD(placeholder)),
    MEMBER("placeholder_visible", BOOL, FIELD(placeholder_visible)),
    MEMBER("min_chars", COUNT, FIELD(min_chars)),
    MEMBER("max_chars", COUNT, FIELD(max_chars)),
    MEMBER("format", TEXT, FIELD(format)),
    MEMBER("integer", BOOL, FIELD(is_integer)),
    MEMBER("minimum", BOUND, FIELD(minimum), .beside = FIELD(has_minimum)),
    MEMBER("maximum", BOUND, FIELD(maximum), .beside = FIELD(has_maximum)),
    MEMBER("step", NUMBER, FIELD(step)),
    MEMBER("unit", TEXT, FIELD(unit)),
    MEMBER("style", NAME, FIELD(style), .names = number_style_names),
    MEMBER("default_text", TEXT, FIELD(default_text)),
    MEMBER("default_number", BOUND, FIELD(default_number), .beside = FIELD(has_default_number)),
    MEMBER("default_confirm", NAME, FIELD(default_confirm), .names = confirm_default_names),
};
static const struct shape field_shape = SHAPE(field);

static const struct member form_members[] = {
    MEMBER("title", TEXT, FORM(title), .is_required = true),
    MEMBER("prompt", TEXT, FORM(prompt), .is_required = true),
    MEMBER("fields", LIST, FORM(fields), .beside = FORM(field_count), .shape = &field_shape,
           .is_required = true, .min = 1, .max = LIMIT_FORM_FIELDS),
    MEMBER("allow_annotations", BOOL, FORM(allow_annotations)),
    MEMBER("global_annotation", TEXT, FORM(global_annotation)),
    MEMBER("single_submit", BOOL, FORM(single_submit)),
    MEMBER("destructive", BOOL, FORM(is_destructive)),
    MEMBER("answered_ms", COUNT, FORM(answered_ms)),
};
static const struct shape form_shape = SHAPE(form);

/* Names are kept in enums, which are as wide as unsigned; copying spares us their types. */
_Static_assert(sizeof(enum field_kind) == sizeof(unsigned), "names are copied as unsigned");
_Static_assert(sizeof(enum preview_type) == sizeof(unsigned), "names are copied as unsigned");
_Static_assert(sizeof(enum confirm_default) == sizeof(unsigned), "names are copied as unsigned");
_Static_assert(sizeof(enum number_style) == sizeof(unsigned), "names are copied as unsigned");

static unsigned name_at(const void *slot)
{
    unsigned value;

    memcpy(&value, slot, sizeof value);
    return value;
}

static void write_shape(struct json_writer *writer, const char *key, const struct shape *shape,
                        const void *value);

static void write_list(struct json_writer *writer, const struct member *member, const void *whole)
{
    const void *slot = (const char *)whole + member->offset;
    const size_t *count = (const void *)((const char *)whole + member->beside);
    const char *items = *(void *const *)slot;

    if (*count == 0 && !member->is_required)
        return;
    json_write_list(writer, member->key);
    for (size_t i = 0; i < *count; i++)
        write_shape(writer, NULL, member->shape, items + i * member->shape->bytes);
    json_write_end_list(writer);
}

static void write_member(struct json_writer *writer, const struct member *member, const void *whole)
{
    const void *slot = (const char *)whole + member->offset;
    const void *beside = (const char *)whole + member->beside;

    switch (member->type) {
    case MEMBER_TEXT:
        if (*(char *const *)slot)
            json_write_text(writer, member->key, *(char *const *)slot);
        break;
    case MEMBER_BOOL:
        json_write_bool_if(writer, member->key, *(const bool *)slot);
        break;
    case MEMBER_COUNT:
        if (*(const int64_t *)slot)
            json_write_integer(writer, member->key, *(const int64_t *)slot);
        break;
    case MEMBER_NUMBER:
        if (*(const double *)slot != 0)
            json_write_number(writer, member->key, *(const double *)slot);
        break;
    case MEMBER_BOUND:
        if (*(const bool *)beside)
            json_write_number(writer, member->key, *(const double *)slot);
        break;
    case MEMBER_NAME:
        if (name_at(slot) || member->is_required)
            json_write_text(writer, member->key, member->names[name_at(slot)]);
        break;
    case MEMBER_OBJECT:
        if (name_at(slot))
            write_shape(writer, member->key, member->shape, slot);
        break;
    case MEMBER_LIST:
        write_list(writer, member, whole);
        break;
    }
}

static void write_shape(struct json_writer *writer, const char *key, const struct shape *shape,
                        const void *value)
{
    json_write_object(writer, key);
    for (size_t i = 0; i < shape->count; i++)
        write_member(writer, &shape->members[i], value);
    json_write_end_object(writer);
}

void form_encode(const struct form *form, struct text *out)
{
    struct json_writer writer = json_object_to(out);

    json_write_integer(&writer, "version", FORM_VERSION);
    for (size_t i = 0; i < form_shape.count; i++)
        write_member(&writer, &form_shape.members[i], form);
    json_write_end_object(&writer);
}

static bool read_shape(const struct shape *shape, const struct json *object, void *whole);

static bool read_text(const struct json *value, void *slot)
{
    const char *text = json_text(value);

    if (!text || strlen(text) != json_length(value))
        return false;
    *(char **)slot = mem_text(text);
    return true;
}

static bool read_number(const struct json *value, double *slot)
{
    enum json_kind kind = json_kind(value);

    *slot = json_number_of(value);
    return kind == KIND_INTEGER || kind == KIND_REAL;
}

static bool read_name(const struct member *member, const struct json *value, void *slot)
{
    const char *name = json_text(value);
    unsigned found = name ? form_name_find(member->names, name, UINT32_MAX) : UINT32_MAX;

    memcpy(slot, &found, sizeof found);
    return found != UINT32_MAX;
}

/* The count grows with the items, so that a half-read list can be released. */
static bool read_list(const struct member *member, const struct json *value, void *whole)
{
    void *slot = (char *)whole + member->offset;
    size_t *count = (void *)((char *)whole + member->beside);
    char *items;

    if (json_kind(value) != KIND_LIST || json_length(value) < member->min ||
        json_length(value) > member->max)
        return false;
    items = mem_new((json_length(value) + 1) * member->shape->bytes);
    *(void **)slot = items;
    while (*count < json_length(value)) {
        const struct json *item = json_item(value, *count);

        if (!read_shape(member->shape, item, items + (*count)++ * member->shape->bytes))
            return false;
    }
    return true;
}

static bool read_member(const struct member *member, const struct json *value, void *whole)
{
    void *slot = (char *)whole + member->offset;

    switch (member->type) {
    case MEMBER_TEXT:
        return read_text(value, slot);
    case MEMBER_BOOL:
        *(bool *)slot = json_is_true(value);
        return json_kind(value) == KIND_BOOL;
    case MEMBER_COUNT:
        return json_integer_of(value, slot) && *(int64_t *)slot >= 0;
    case MEMBER_NUMBER:
        return read_number(value, slot);
    case MEMBER_BOUND:
        *(bool *)((char *)whole + member->beside) = true;
        return read_number(value, slot);
    case MEMBER_NAME:
        return read_name(member, value, slot);
    case MEMBER_OBJECT:
        return read_shape(member->shape, value, slot);
    case MEMBER_LIST:
        break;
    }
    return read_list(member, value, whole);
}

/* How many members were read; SIZE_MAX: one is missing or wrong. */
static size_t read_members(const struct shape *shape, const struct json *object, void *whole)
{
    size_t known = 0;

    if (json_kind(object) != KIND_OBJECT)
        return SIZE_MAX;
    for (size_t i = 0; i < shape->count; i++) {
        const struct member *member = &shape->members[i];
        const struct json *value = json_member(object, member->key);

        if (value ? !read_member(member, value, whole) : member->is_required)
            return SIZE_MAX;
        known += value != NULL;
    }
    return known;
}

/* Members we do not know come from a newer program; half a form must not be shown as a whole. */
static bool read_shape(const struct shape *shape, const struct json *object, void *whole)
{
    return read_members(shape, object, whole) == json_length(object);
}

/* What every reader of a form relies on when it counts selections. */
static bool is_countable(const struct form *form)
{
    for (size_t i = 0; i < form->field_count; i++) {
        const struct field *field = &form->fields[i];

        if (field->min_selections > field->max_selections ||
            field->max_selections > (int64_t)field->option_count)
            return false;
    }
    return true;
}

bool form_read(const struct json *value, struct form *ret_form, struct error *err)
{
    struct form form = { 0 };

    if (json_member_integer(value, "version", 0) == FORM_VERSION &&
        read_members(&form_shape, value, &form) == json_length(value) - 1 && is_countable(&form)) {
        *ret_form = form;
        return true;
    }
    form_release(&form);
    return error_set(err, ERROR_bad_json, "", "not a form of version %d", FORM_VERSION);
}

bool form_parse(const char *json, size_t length, struct form *ret_form, struct error *err)
{
    struct json *value = NULL;
    bool ok = json_parse(json, length, &value, err) && form_read(value, ret_form, err);

    json_free(value);
    return ok;
}

/*
 * arguments.h - from a tool's call to a form, or to the name of the field that is wrong. One table
 * of fields per ask tool gives names, types, limits and help; MCP (which also prints its
 * inputSchema from it), `sayso ask --from` and REST share it. Rules between fields are rows of
 * core/validation. All mistakes are reported together, as far as one doesn't hide another; the
 * first is the first by the order of rules: unknown properties, then presence and type of every
 * field in schema order, then limits, then rules between fields, then no_recommended_option and
 * too_short. Null means absent, and so does an empty text or list that would only be refused.
 */
#ifndef CORE_TOOLS_ARGUMENTS_H
#define CORE_TOOLS_ARGUMENTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mem.h"
#include "core/fields/form.h"
#include "core/routing.h"
#include "i18n/i18n.h"

struct ask_call;
struct response_shape;
struct rule;
struct subject;

enum argument_type {
    ARGUMENT_TEXT,
    ARGUMENT_MARKDOWN,
    ARGUMENT_BOOL,
    ARGUMENT_INTEGER,
    ARGUMENT_ENUM,
    ARGUMENT_ID,               /* a session id */
    ARGUMENT_OPTIONS,          /* list of option objects */
    ARGUMENT_IDS,              /* list of option ids */
    ARGUMENT_PREVIEW,          /* text or {type, text, language?} */
    ARGUMENT_NUMBER,           /* with or without a fraction */
    ARGUMENT_TEXTS,            /* list of texts; the one row of `properties` limits each */
    ARGUMENT_OBJECT,           /* looked into by the tool itself */
    ARGUMENT_ANY,              /* known only to be refused by name */
    ARGUMENT_QUESTIONS,        /* list of question objects */
    ARGUMENT_QUESTION_OPTIONS, /* the options of one of them */
};
enum argument_unit { UNIT_CHARS, UNIT_BYTES, UNIT_NUMBER, UNIT_ITEMS };

/* One row: an argument of a tool, or a property of its options. */
struct argument {
    const char *name;
    enum argument_type type;
    int64_t min, max; /* in `unit`; ignored for booleans */
    enum argument_unit unit;
    const char *const *choices; /* ARGUMENT_ENUM: NULL-ended */
    bool is_required;           /* unless the call only collects (session_id) */
    size_t offset;              /* where the value goes in the tool's own struct */
    const char *help;           /* for agents, English; goes into inputSchema */
    /* Not needed where that argument has this value; NULL: where it is given at all. */
    const char *spared_by, *spared_value;
    int64_t fallback;                  /* a boolean's or integer's value when it is not given */
    const char *fallback_text;         /* a text's or word's; NULL: none */
    const struct argument *properties; /* OPTIONS: of each item; PREVIEW: of the object form */
    size_t property_count;
    bool is_hidden;  /* accepted or refused by a rule, but not offered */
    bool is_obvious; /* its name says it: the help stands only in messages */
};
/* `most` of an argument that only rules between fields bound. */
#define ARGUMENT_UNBOUNDED INT64_MAX
/* A row of a table: its name, its type, where the value goes, the help; behind that what else holds
 * of it, such as how much of it is taken and what each item has. */
#define ARGUMENT(key, kind, slot, ...)                                                             \
    {                                                                                              \
        .name = key, .type = ARGUMENT_##kind, .offset = slot, .help = __VA_ARGS__                  \
    }
#define ARGUMENT_LIMITS(from, to, counted_in) .min = (from), .max = (to), .unit = UNIT_##counted_in
#define ARGUMENT_PROPERTIES(rows)             .properties = (rows), .property_count = ARRAY_LEN(rows)

struct ask_tool {
    const char *name;
    const struct argument *arguments;
    size_t argument_count;
    size_t values_bytes; /* size of the tool's own struct */
    /* Makes the call out of the filled struct, before the rules between fields. False: an argument
     * that only the tool can read is wrong; the caller releases what is there of the call. */
    bool (*build)(const void *values, struct ask_call *call, struct error *err);
    const struct rule *rules; /* between fields (core/tools/validation.h) */
    size_t rule_count;
    unsigned (*calls_of)(const struct subject *subject); /* whose rules look; NULL: all do */
    const struct response_shape *response;
    const char *value_key; /* of the value in its result; NULL: the name of the only field */
    bool is_main_agents;   /* sub-agents neither see nor may call it (R3.3) */
};
/* The table of its arguments, and the struct that they fill. */
#define ASK_TOOL_ARGUMENTS(rows, values)                                                           \
    .arguments = (rows), .argument_count = ARRAY_LEN(rows), .values_bytes = sizeof(values)
#define ASK_TOOL_RULES(rows) .rules = (rows), .rule_count = ARRAY_LEN(rows)

/* What a good call comes to. */
struct ask_call {
    struct form form;    /* empty when collecting */
    char session_id[27]; /* not "" : collect an earlier ask */
    int64_t wait_s;    /* only with session_id; default 30, but a client's own patience over MCP */
    int64_t timeout_s; /* 0: the agent named none */
    enum ask_interface interface; /* INTERFACE_NONE: the agent named none */
    char *idempotency_key;        /* NULL: none */
    char *arguments_json;         /* canonical, as received less what counts as absent */
    bool defaults_ignored;        /* warnings[] of R2 */
    bool cancel_always_available;
};

#define TOOL(name) extern const struct ask_tool tool_##name;
#include "core/ask_tools.def"
#undef TOOL
const struct ask_tool *ask_tool_find(const char *name); /* NULL if there is none */
const struct ask_tool *ask_tool_at(size_t index);       /* NULL behind the last */

/* False: `err` is for the sub-agent that called it. Asked before anything of the call is read. */
bool ask_tool_allows(const struct ask_tool *tool, bool is_sub_agent, struct error *err);

/* `arguments` must be an object (else bad_type without a path). False: nothing is in *ret_call. */
bool arguments_check(const struct ask_tool *tool, const struct json *arguments,
                     struct ask_call *ret_call, struct error *err);
/* The same without the canonical text, to pass the call on: *ret_owner is as received, in order. */
bool arguments_check_call(const struct ask_tool *tool, const struct json *arguments,
                          struct ask_call *ret_call, struct json **ret_owner, struct error *err);
void ask_call_release(struct ask_call *call);

/* A copy without what counts as absent; NULL: there is nothing of the kind. */
struct json *arguments_without_absent(const struct argument *rows, size_t row_count,
                                      const struct json *arguments);

/* The first half of it, for tools that make no ask: unknown properties, types, limits, filling
 * `values`. What was filled borrows from *ret_owner, which the caller frees. */
bool arguments_read(const struct argument *rows, size_t row_count, const struct json *arguments,
                    void *values, struct json **ret_owner, struct error *err);

/* Fills a tool's struct from an object that has the right types: texts as borrowed `const char *`,
 * booleans and integers as int64_t, all else as borrowed `const struct json *`; NULL or its
 * fallback where nothing was given. */
void arguments_fill(const struct argument *rows, size_t row_count, const struct json *object,
                    void *values);

/* NULL where there is nothing to see: such a text is as good as none. */
char *arguments_copy_if_any(const char *text);

enum { ARGUMENT_QUOTE_CHARS = 40, ARGUMENT_QUOTE_BYTES = 4 * ARGUMENT_QUOTE_CHARS + 4 };
/* What a message may repeat of a foreign text: its shown form, cut between characters. */
void arguments_quote(const char *bytes, size_t length, char out[ARGUMENT_QUOTE_BYTES]);

/* What choosing an option would give, as calls say it: a text or an object. */

/* Of the object form. */
enum { PREVIEW_PROPERTIES = 3 };
extern const struct argument preview_properties[PREVIEW_PROPERTIES];

/* `given` has the right types, or is NULL. Nothing to see is no preview. */
void preview_build(const struct json *given, struct preview *preview);

/* Where in the call we are; printed as a JSON pointer only when something is wrong. */
struct argument_path {
    const struct argument_path *outer; /* NULL: the call itself */
    const char *name;                  /* NULL: item `index` of a list */
    size_t index;
};

/* One within another, for as long as the block it is written in. */
#define PLACE_IN(within, key)  (&(const struct argument_path){ .outer = (within), .name = (key) })
#define PLACE_AT(within, item) (&(const struct argument_path){ .outer = (within), .index = (item) })

/* One argument and what was given for it, NULL where nothing was. */
struct given {
    const struct argument *row;
    const struct argument_class *class;
    const struct json *value;
    const struct argument_path *place;
    const struct json *beside; /* the object it stands in; NULL: it is an item of a list */
};

enum storage { STORE_TEXT, STORE_NUMBER, STORE_JSON };

struct argument_class {
    const char *wanted; /* for messages */
    unsigned kinds;     /* bits of json_kind */
    enum storage storage;
    bool (*check_type)(const struct given *given, struct error *err);   /* NULL: kind says it all */
    bool (*check_limits)(const struct given *given, struct error *err); /* NULL: there are none */
    unsigned item_kinds;
    enum error_code too_few, too_many;
    enum text_id wrong_count;
};

/* Empty, or what counts anyway. */
bool argument_says_nothing(const struct argument *row, const struct json *value);
const struct argument *argument_find(const struct argument *rows, size_t count, const char *name);
/* An object inside a call, checked and filled by its own rows; `err` is about this object alone. */
bool argument_read_object(const struct argument *rows, size_t row_count, const struct json *object,
                          const struct argument_path *place, void *values, struct error *err);
/* A key that is not ours as the name of a place: its shown form with a pointer's escapes, cut. */
void argument_show_key(void *member, char *out, size_t out_bytes);
/* Always false; the path is the place's. Adds to what is wrong already. */
bool argument_refuse(const struct argument_path *place, enum error_code code, struct error *err,
                     enum text_id text, ...);

#endif

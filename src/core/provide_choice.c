/*
 * provide_choice.c - the arguments of the tool provide_choice and the form they come to.
 * The help texts are what an agent reads in the schema and in error messages.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/arguments.h"
#include "core/limits.h"
#include "core/preview_argument.h"
#include "core/response.h"
#include "core/validation.h"

enum { NOT_GIVEN = -1, DEFAULT_WAIT_S = 30 };

/* As arguments_fill leaves them: texts and lists are borrowed from the call. */
struct choice_values {
    const char *title, *prompt, *selection_mode;
    const struct json *options;
    const char *placeholder;
    int64_t placeholder_visible;
    const struct json *default_selection_ids;
    int64_t min_selections, max_selections; /* the latter 0: not given */
    int64_t single_submit_mode;             /* or NOT_GIVEN */
    int64_t allow_annotations;
    const char *global_annotation, *interface;
    int64_t timeout_s, destructive;
    int64_t allow_cancel; /* or NOT_GIVEN */
    const char *session_id;
    int64_t wait_s;
    const char *idempotency_key;
};
struct option_values {
    const char *id, *label, *description;
    int64_t recommended;
    int64_t destructive; /* or NOT_GIVEN: as the whole says */
    const char *annotation;
    const struct json *preview;
};
#define VALUE(name)  offsetof(struct choice_values, name)
#define OPTION(name) offsetof(struct option_values, name)

static const char *const mode_names[] = {
    [FIELD_SINGLE] = "single", [FIELD_MULTI] = "multi",   [FIELD_TEXT] = "text_input",
    [FIELD_HYBRID] = "hybrid", [FIELD_HYBRID + 1] = NULL,
};

static const struct argument option_properties[] = {
    { .name = "id",
      ARGUMENT_RANGE(TEXT, 1, LIMIT_OPTION_ID_BYTES, BYTES),
      .is_needed = true,
      .offset = OPTION(id),
      .help = "What you get back when this option is chosen: 1 to 128 bytes, unique among the "
              "options." },
    { .name = "label",
      ARGUMENT_RANGE(TEXT, 1, LIMIT_LABEL_CHARS, CHARS),
      .is_needed = true,
      .offset = OPTION(label),
      .help = "What the person reads, not to be mistaken for another label." },
    { .name = "description",
      ARGUMENT_RANGE(TEXT, 0, LIMIT_DESCRIPTION_CHARS, CHARS),
      .offset = OPTION(description),
      .help = "What follows from choosing it." },
    { .name = "recommended",
      .type = ARGUMENT_BOOL,
      .offset = OPTION(recommended),
      .help = "true for what you would choose." },
    { .name = "destructive",
      .type = ARGUMENT_BOOL,
      .refuses_null = true,
      .otherwise = NOT_GIVEN,
      .offset = OPTION(destructive),
      .help = "true: can't be undone; choosing it takes a confirmation code." },
    { .name = "annotation",
      ARGUMENT_RANGE(TEXT, 0, LIMIT_ANNOTATION_CHARS, CHARS),
      .offset = OPTION(annotation),
      .help = "A note on this option, prefilled for the person." },
    { .name = "preview",
      ARGUMENT_RANGE(PREVIEW, 0, LIMIT_PREVIEW_BYTES, BYTES),
      .offset = OPTION(preview),
      .help = "What choosing it would give: a text, or {type, text, language} with type text, "
              "markdown, code or diff; up to 64 KiB.",
      ARGUMENT_PROPERTIES(preview_properties) },
};

static const struct argument choice_arguments[] = {
    { .name = "title",
      ARGUMENT_RANGE(TEXT, 1, LIMIT_TITLE_CHARS, CHARS),
      .is_needed = true,
      .offset = VALUE(title),
      .help = "Needed: what is to be decided, in one line." },
    { .name = "prompt",
      ARGUMENT_RANGE(MARKDOWN, LIMIT_PROMPT_CHARS_MIN, LIMIT_PROMPT_BYTES, BYTES),
      .is_needed = true,
      .offset = VALUE(prompt),
      .help = "Needed: the task's context and why a choice is needed, so that the person can judge "
              "without asking back. Markdown, 20 characters to 64 KiB." },
    { .name = "selection_mode",
      .type = ARGUMENT_ENUM,
      .choices = mode_names,
      .is_needed = true,
      .offset = VALUE(selection_mode),
      .help = "Needed: single (one option), multi (several), text_input (free text) or hybrid "
              "(options, free text, or both)." },
    { .name = "options",
      ARGUMENT_RANGE(OPTIONS, 1, LIMIT_OPTIONS, ITEMS),
      .is_needed = true,
      .spared_by = "selection_mode",
      .spared_value = "text_input",
      .offset = VALUE(options),
      .help = "Needed except in text_input, where it must be left out; at least one with "
              "recommended true, exactly one in single.",
      ARGUMENT_PROPERTIES(option_properties) },
    { .name = "placeholder",
      ARGUMENT_RANGE(TEXT, 0, LIMIT_PLACEHOLDER_CHARS, CHARS),
      .offset = VALUE(placeholder),
      .help = "Hint in the empty text field; only in text_input and "
              "hybrid." },
    { .name = "placeholder_visible",
      .type = ARGUMENT_BOOL,
      .otherwise = true,
      .offset = VALUE(placeholder_visible),
      .help = "Whether the placeholder is shown, default true; only in text_input and hybrid." },
    { .name = "default_selection_ids",
      ARGUMENT_RANGE(IDS, 0, LIMIT_OPTIONS, ITEMS),
      .offset = VALUE(default_selection_ids),
      .help = "Ids of the options chosen beforehand, at most max_selections of them; not in "
              "text_input." },
    { .name = "min_selections",
      ARGUMENT_RANGE(INTEGER, 0, ARGUMENT_UNBOUNDED, NUMBER),
      .offset = VALUE(min_selections),
      .help = "Fewest options to choose, default 0; at most max_selections; only in multi and "
              "hybrid." },
    { .name = "max_selections",
      ARGUMENT_RANGE(INTEGER, 1, ARGUMENT_UNBOUNDED, NUMBER),
      .offset = VALUE(max_selections),
      .help = "Most options to choose, default all of them; only in multi and hybrid." },
    { .name = "single_submit_mode",
      .type = ARGUMENT_BOOL,
      .otherwise = NOT_GIVEN,
      .offset = VALUE(single_submit_mode),
      .help = "true: picking an option sends the answer at once; default true in single, else "
              "false; not in text_input nor with min_selections over 1." },
    { .name = "allow_annotations",
      .type = ARGUMENT_BOOL,
      .otherwise = true,
      .offset = VALUE(allow_annotations),
      .help = "Whether the person may add notes to options and to the whole, default true." },
    { .name = "global_annotation",
      ARGUMENT_RANGE(TEXT, 0, LIMIT_ANNOTATION_CHARS, CHARS),
      .offset = VALUE(global_annotation),
      .help = "A note on the whole, prefilled for the person." },
    { .name = "interface",
      .type = ARGUMENT_ENUM,
      .choices = interface_choices,
      .offset = VALUE(interface),
      .help = "Where to announce it, default auto." },
    { .name = "timeout_seconds",
      ARGUMENT_RANGE(INTEGER, 1, LIMIT_TIMEOUT_S, NUMBER),
      .offset = VALUE(timeout_s),
      .help = "Seconds the person has, default from the person's settings." },
    { .name = "destructive",
      .type = ARGUMENT_BOOL,
      .refuses_null = true,
      .offset = VALUE(destructive),
      .help = "true when something may be lost: every option but the recommended one, which must "
              "be the safe one, takes a confirmation code, and nothing is preselected. "
              "Default false." },
    { .name = "allow_cancel",
      .type = ARGUMENT_BOOL,
      .otherwise = NOT_GIVEN,
      .offset = VALUE(allow_cancel),
      .help = "Accepted and ignored: a person can always cancel.",
      .is_hidden = true },
    { .name = "session_id",
      .type = ARGUMENT_ID,
      .offset = VALUE(session_id),
      .help = "Collects an earlier ask instead of asking; only wait_seconds and interface may "
              "stand beside it." },
    { .name = "wait_seconds",
      ARGUMENT_RANGE(INTEGER, 0, LIMIT_WAIT_S, NUMBER),
      .otherwise = DEFAULT_WAIT_S,
      .offset = VALUE(wait_s),
      .help = "How long to wait when collecting, default as long as possible; only with "
              "session_id." },
    { .name = "idempotency_key",
      ARGUMENT_RANGE(TEXT, 0, LIMIT_IDEMPOTENCY_KEY_BYTES, BYTES),
      .offset = VALUE(idempotency_key),
      .help = "Asking again with the same key gives the same ask." },
};

static void build_option(const struct json *given, bool is_destructive, struct option *option)
{
    struct option_values values = { 0 };

    arguments_fill(option_properties, ARRAY_LEN(option_properties), given, &values);
    option->id = mem_text(values.id);
    option->label = mem_text(values.label);
    option->description = arguments_copy_if_any(values.description);
    option->annotation = arguments_copy_if_any(values.annotation);
    option->is_recommended = values.recommended;
    option->is_destructive = values.destructive != NOT_GIVEN
                                 ? values.destructive
                                 : is_destructive && !values.recommended;
    preview_build(values.preview, &option->preview);
}

static void build_options(const struct choice_values *values, struct field *field)
{
    field->option_count = json_length(values->options);
    if (field->option_count == 0)
        return;
    field->options = mem_new(field->option_count * sizeof *field->options);
    for (size_t i = 0; i < field->option_count; i++)
        build_option(json_item(values->options, i), values->destructive, &field->options[i]);
}

static void build_defaults(const struct choice_values *values, struct field *field)
{
    for (size_t i = 0; i < json_length(values->default_selection_ids); i++) {
        const char *id = json_text(json_item(values->default_selection_ids, i));
        const struct option *option = field_find_option(field, id);

        if (option)
            field->options[option - field->options].is_default = true;
    }
}

static void build_bounds(const struct choice_values *values, struct field *field)
{
    bool is_many = field->kind == FIELD_MULTI || field->kind == FIELD_HYBRID;

    field->min_selections = field->max_selections = field->kind == FIELD_SINGLE;
    if (is_many) {
        field->min_selections = values->min_selections;
        field->max_selections =
            values->max_selections ? values->max_selections : (int64_t)field->option_count;
    }
    field->is_required = !is_many || field->min_selections > 0;
}

static void build_field(const struct choice_values *values, struct field *field)
{
    field->name = mem_text("choice");
    field->kind = form_name_find(mode_names, values->selection_mode, FIELD_SINGLE);
    field->placeholder = arguments_copy_if_any(values->placeholder);
    field->placeholder_visible =
        values->placeholder_visible && (field->kind == FIELD_TEXT || field->kind == FIELD_HYBRID);
    build_options(values, field);
    build_bounds(values, field);
}

static void build_form(const struct choice_values *values, struct form *form)
{
    bool is_single;

    *form = (struct form){ .title = mem_text(values->title),
                           .prompt = mem_text(values->prompt),
                           .fields = mem_new(sizeof *form->fields),
                           .field_count = 1,
                           .allow_annotations = values->allow_annotations,
                           .global_annotation = arguments_copy_if_any(values->global_annotation),
                           .is_destructive = values->destructive };
    build_field(values, &form->fields[0]);
    if (!form_may_destroy(form))
        build_defaults(values, &form->fields[0]);
    is_single = form->fields[0].kind == FIELD_SINGLE;
    form->single_submit =
        !form_may_destroy(form) &&
        (values->single_submit_mode == NOT_GIVEN ? is_single : values->single_submit_mode);
}

static bool build_choice(const void *filled, struct ask_call *call, struct error *err)
{
    const struct choice_values *values = filled;

    (void)err;
    *call = (struct ask_call){
        .wait_s = values->wait_s,
        .timeout_s = values->timeout_s,
        .interface = interface_find(values->interface),
        .idempotency_key = arguments_copy_if_any(values->idempotency_key),
        .cancel_always_available = values->allow_cancel != NOT_GIVEN,
    };
    if (values->session_id)
        memcpy(call->session_id, values->session_id, sizeof call->session_id);
    else
        build_form(values, &call->form);
    call->defaults_ignored =
        form_may_destroy(&call->form) && json_length(values->default_selection_ids) > 0;
    return true;
}

const struct ask_tool tool_provide_choice = {
    .name = "provide_choice",
    ASK_TOOL_ARGUMENTS(choice_arguments, struct choice_values),
    .build = build_choice,
    .check = validation_check_choice,
    .response = &response_selection,
};

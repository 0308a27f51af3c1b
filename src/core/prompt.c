/*
 * prompt.c - see prompt.h. Sources: code.claude.com/docs/en/hooks and sdk.d.ts of
 * @anthropic-ai/claude-agent-sdk 0.3.325 (PermissionRequest, Elicitation, Stop, PermissionUpdate);
 * openai/codex, codex-rs/hooks/schema/generated (permission-request.command).
 */
#include "core/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/outcome.h"
#include "core/tools/arguments.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

enum { MAX_ALWAYS = 4, ID_BYTES = 128, ACT_BYTES = 16 };
#define ACT_ALWAYS "always%zu"

static const char asks_questions[] = "AskUserQuestion";

/* For the model. */
static const char said_no[] = "The user denied this.";
static const char said_nothing[] = "The user did not decide, so this is denied. Do not try another "
                                   "way; ask the user.";

static const char *read_tool(const struct json *object, const char *input, struct prompt *prompt)
{
    prompt->tool = json_member_text(object, "tool_name");
    prompt->input = json_member(object, input);
    if (!prompt->tool || !*prompt->tool || json_kind(prompt->input) != KIND_OBJECT)
        return "no_tool";
    prompt->kind = strcmp(prompt->tool, asks_questions) == 0 ? PROMPT_QUESTIONS : PROMPT_PERMISSION;
    return NULL;
}

static const char *read_form(const struct json *hook, struct prompt *prompt)
{
    const char *mode = json_member_text(hook, "mode");

    prompt->kind = PROMPT_FORM;
    prompt->server = json_member_text(hook, "mcp_server_name");
    prompt->message = json_member_text(hook, "message");
    prompt->input = json_member(hook, "requested_schema");
    if (mode && strcmp(mode, "form") != 0)
        return "not_a_form";
    return prompt->server && prompt->message && json_kind(prompt->input) == KIND_OBJECT ? NULL
                                                                                        : "no_form";
}

const char *prompt_read(const struct json *hook, struct prompt *prompt)
{
    prompt->event = json_member_text(hook, "hook_event_name");
    prompt->session = json_member_text(hook, "session_id");
    if (!prompt->event)
        return "no_event";
    prompt->suggestions = json_member(hook, "permission_suggestions");
    if (strcmp(prompt->event, "PermissionRequest") == 0)
        return read_tool(hook, "tool_input", prompt);
    if (strcmp(prompt->event, "Elicitation") == 0)
        return read_form(hook, prompt);
    prompt->kind = PROMPT_NEXT;
    prompt->message = json_member_text(hook, "last_assistant_message");
    return strcmp(prompt->event, "Stop") == 0 ? NULL : "unknown_event";
}

const char *prompt_read_call(const struct json *given, struct prompt *prompt)
{
    return read_tool(given, "input", prompt);
}

void prompt_write_identity(const struct prompt *prompt, struct text *out)
{
    char *input = json_encode_canonical(prompt->input);

    text_add_format(out, "%s %s", prompt->tool ? prompt->tool : prompt->event, input);
    free(input);
}

/* A block whose fence no run of backticks inside can end. */
static void add_block(struct text *out, const char *bytes, size_t length)
{
    size_t longest = 2, run = 0;

    for (size_t i = 0; i < length; i++) {
        run = bytes[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    text_add_text(out, "\n");
    for (size_t i = 0; i <= longest; i++)
        text_add_char(out, '`');
    text_add_text(out, "\n");
    text_add(out, bytes, length);
    text_add_text(out, "\n");
    for (size_t i = 0; i <= longest; i++)
        text_add_char(out, '`');
    text_add_text(out, "\n");
}

static void add_value(struct text *out, const struct json *value)
{
    char *json = json_text(value) ? NULL : json_encode(value);

    if (json)
        add_block(out, json, strlen(json));
    else
        add_block(out, json_text(value), json_length(value));
    free(json);
}

void prompt_add_input(struct text *out, const struct json *input, const char *const *but_for,
                      size_t count)
{
    for (void *it = json_first(input); it; it = json_next(input, it)) {
        char quote[ARGUMENT_QUOTE_BYTES];

        if (text_is_among(json_key(it), but_for, count))
            continue;
        arguments_quote(json_key(it), json_key_length(it), quote);
        text_add_format(out, "\n%s:", quote);
        add_value(out, json_value(it));
    }
    if (json_kind(input) != KIND_OBJECT)
        add_value(out, input);
}

/* What a person looks at to decide, beside the options. */
struct look {
    const char *type, *language; /* the latter may be NULL */
    struct text text;
    const char *shown[2]; /* members of the input that are in it */
    size_t count;
};

static void add_lines(struct text *out, char mark, const struct json *text)
{
    const char *at = json_text(text), *end = at + json_length(text);

    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line_end ? line_end : end) - at);

        text_add_char(out, mark);
        text_add(out, at, length);
        text_add_char(out, '\n');
        at += length + 1;
    }
}

/* The members by which tools that change files are known, whatever they are called. */
static bool look_at_edit(const struct json *input, struct look *look)
{
    const struct json *old = json_member(input, "old_string");
    const struct json *new = json_member(input, "new_string");

    if (!json_text(old) || !json_text(new))
        return false;
    *look = (struct look){ .type = "diff", .shown = { "old_string", "new_string" }, .count = 2 };
    add_lines(&look->text, '-', old);
    add_lines(&look->text, '+', new);
    return true;
}

static void look_at(const struct json *input, struct look *look)
{
    static const struct look kinds[] = {
        { .type = "code", .language = "sh", .shown = { "command" } },
        { .type = "code", .shown = { "content" } },
        { .type = "markdown", .shown = { "plan" } },
    };

    *look = (struct look){ 0 };
    if (look_at_edit(input, look))
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *text = json_member(input, kinds[i].shown[0]);

        if (!json_text(text))
            continue;
        *look = kinds[i];
        look->count = 1;
        text_add(&look->text, json_text(text), json_length(text));
        return;
    }
}

/* What "always" would add, in words. */

static const struct place {
    const char *name; /* of the client */
    enum text_id label, description;
} places[] = {
    { "session", TEXT_PROMPT_ALWAYS_SESSION, TEXT_PROMPT_IN_SESSION },
    { "localSettings", TEXT_PROMPT_ALWAYS_LOCAL, TEXT_PROMPT_IN_LOCAL },
    { "projectSettings", TEXT_PROMPT_ALWAYS_PROJECT, TEXT_PROMPT_IN_PROJECT },
    { "userSettings", TEXT_PROMPT_ALWAYS_USER, TEXT_PROMPT_IN_USER },
};

/* NULL: a suggestion that adds more than rules, or that we have no words for. */
static const struct place *place_of(const struct json *suggestion)
{
    const char *type = json_member_text(suggestion, "type");
    const char *behavior = json_member_text(suggestion, "behavior");
    const char *destination = json_member_text(suggestion, "destination");

    if (!type || strcmp(type, "addRules") != 0 || !behavior || strcmp(behavior, "allow") != 0)
        return NULL;
    for (size_t i = 0; destination && i < ARRAY_LEN(places); i++) {
        if (strcmp(places[i].name, destination) == 0)
            return &places[i];
    }
    return NULL;
}

/* Each rule as the client writes it, Tool(content). False: there is more to it than that. */
static bool add_rules(const struct json *suggestion, struct text *out)
{
    const struct json *rules = json_member(suggestion, "rules");
    bool is_known = json_kind(rules) == KIND_LIST && json_length(rules) > 0;

    for (size_t i = 0; is_known && i < json_length(rules); i++) {
        const struct json *rule = json_item(rules, i), *content = json_member(rule, "ruleContent");
        const struct json *tool = json_member(rule, "toolName");

        is_known = json_text(tool) && json_length(tool) > 0 && (!content || json_text(content)) &&
                   json_length(rule) == 1 + (content != NULL);
        text_add_text(out, i ? ", " : "");
        text_add(out, is_known ? json_text(tool) : "", is_known ? json_length(tool) : 0);
        if (is_known && content) {
            text_add_char(out, '(');
            text_add(out, json_text(content), json_length(content));
            text_add_char(out, ')');
        }
    }
    return is_known && text_is_utf8(text_string(out), out->used) &&
           strlen(text_string(out)) == out->used;
}

static void write_option(struct json_writer *writer, const struct prompt *prompt, const char *act,
                         const char *label, bool is_recommended)
{
    char id[ID_BYTES];

    snprintf(id, sizeof id, "%s:%s", act, prompt->digest);
    json_write_object(writer, NULL);
    json_write_text(writer, "id", id);
    json_write_text(writer, "label", label);
    json_write_bool_if(writer, "recommended", is_recommended);
}

static void write_always(struct json_writer *writer, const struct prompt *prompt, size_t index)
{
    const struct json *suggestion = json_item(prompt->suggestions, index);
    const struct place *place = place_of(suggestion);
    struct text rules = { 0 }, label = { 0 }, description = { 0 };
    char quote[ARGUMENT_QUOTE_BYTES], act[ACT_BYTES];

    if (place && add_rules(suggestion, &rules)) {
        arguments_quote(rules.bytes, rules.used, quote);
        i18n_format(&label, place->label, "rules", quote, NULL);
        i18n_format(&description, place->description, "client", prompt->client, "rules",
                    text_string(&rules), NULL);
    }
    if (description.used &&
        text_count(description.bytes, description.used) <= LIMIT_DESCRIPTION_CHARS) {
        snprintf(act, sizeof act, ACT_ALWAYS, index);
        write_option(writer, prompt, act, text_string(&label), false);
        json_write_text(writer, "description", text_string(&description));
        json_write_end_object(writer);
    }
    text_release(&rules);
    text_release(&label);
    text_release(&description);
}

/* A destructive call is never allowed for more than this once. */
static void write_options(struct json_writer *writer, const struct prompt *prompt,
                          const struct look *look)
{
    size_t count = json_length(prompt->suggestions);

    json_write_list(writer, "options");
    write_option(writer, prompt, "allow", i18n_text(TEXT_PROMPT_ONCE), !prompt->is_destructive);
    if (look->text.used) {
        json_write_object(writer, "preview");
        json_write_text(writer, "type", look->type);
        json_write_text_n(writer, "text", look->text.bytes, look->text.used);
        json_write_text_if(writer, "language", look->language);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
    for (size_t i = 0; !prompt->is_destructive && i < count && i < MAX_ALWAYS; i++)
        write_always(writer, prompt, i);
    write_option(writer, prompt, "deny", i18n_text(TEXT_PROMPT_DENY), prompt->is_destructive);
    json_write_end_object(writer);
    json_write_end_list(writer);
}

static void add_origin(struct text *out, const struct prompt *prompt)
{
    static const enum text_id dialogs[] = {
        [DIALOG_NONE] = TEXT_PROMPT_NO_WINDOW,
        [DIALOG_LATER] = TEXT_PROMPT_NO_DIALOG,
        [DIALOG_OPEN] = TEXT_PROMPT_DIALOG,
    };
    char session[ARGUMENT_QUOTE_BYTES];

    text_add_text(out, "\n\n");
    i18n_format(out, dialogs[prompt->dialog], "client", prompt->client, NULL);
    if (!prompt->session)
        return;
    arguments_quote(prompt->session, strlen(prompt->session), session);
    text_add_text(out, "\n\n");
    i18n_format(out, TEXT_PROMPT_SESSION, "id", session, NULL);
}

static void write_end(struct json_writer *writer, const struct prompt *prompt)
{
    json_write_integer(writer, "timeout_seconds", prompt->wait_s);
    json_write_text(writer, "idempotency_key", prompt->key);
}

static void write_texts(struct json_writer *writer, const struct text *title,
                        const struct text *prompt)
{
    json_write_text_n(writer, "title", text_string(title), title->used);
    json_write_text_n(writer, "prompt", text_string(prompt), prompt->used);
}

/* Whole, or not at all: a person must not say yes to what is left out. */
static bool write_permission(struct json_writer *writer, const struct prompt *prompt)
{
    struct text title = { 0 }, words = { 0 };
    char tool[ARGUMENT_QUOTE_BYTES];
    struct look look;
    bool fits;

    look_at(prompt->input, &look);
    arguments_quote(prompt->tool, strlen(prompt->tool), tool);
    i18n_format(&title, TEXT_PROMPT_TITLE, "client", prompt->client, "tool", tool, NULL);
    i18n_format(&words, TEXT_PROMPT_PERMISSION, "client", prompt->client, "tool", tool, NULL);
    text_add_text(&words, "\n");
    prompt_add_input(&words, prompt->input, look.shown, look.count);
    add_origin(&words, prompt);
    fits = words.used <= LIMIT_PROMPT_BYTES && look.text.used <= LIMIT_PREVIEW_BYTES;
    if (fits) {
        write_texts(writer, &title, &words);
        json_write_text(writer, "selection_mode", "single");
        write_options(writer, prompt, &look);
        json_write_bool_if(writer, "destructive", prompt->is_destructive);
        write_end(writer, prompt);
    }
    text_release(&title);
    text_release(&words);
    text_release(&look.text);
    return fits;
}

static void write_members(struct json_writer *writer, const struct json *object,
                          const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json_write_value(writer, names[i], json_member(object, names[i]));
}

/* What our tool takes of it: a label that is too long is only a courtesy, all else counts. */
static void write_question(struct json_writer *writer, const struct json *question)
{
    static const char *const whole[] = { "question", "multiSelect" };
    static const char *const parts[] = { "label", "description", "preview" };
    const struct json *options = json_member(question, "options");
    const char *header = json_member_text(question, "header");

    json_write_object(writer, NULL);
    write_members(writer, question, whole, ARRAY_LEN(whole));
    if (header && text_count(header, strlen(header)) <= LIMIT_HEADER_CHARS)
        json_write_text(writer, "header", header);
    json_write_list(writer, "options");
    for (size_t i = 0; i < json_length(options); i++) {
        json_write_object(writer, NULL);
        write_members(writer, json_item(options, i), parts, ARRAY_LEN(parts));
        json_write_end_object(writer);
    }
    json_write_end_list(writer);
    json_write_end_object(writer);
}

static void write_questions(struct json_writer *writer, const struct prompt *prompt)
{
    const struct json *questions = json_member(prompt->input, "questions");
    struct text title = { 0 };

    i18n_format(&title,
                prompt->dialog == DIALOG_OPEN ? TEXT_PROMPT_QUESTIONS_DIALOG
                                              : TEXT_PROMPT_QUESTIONS,
                "client", prompt->client, NULL);
    json_write_text(writer, "title", text_string(&title));
    json_write_list(writer, "questions");
    for (size_t i = 0; i < json_length(questions); i++)
        write_question(writer, json_item(questions, i));
    json_write_end_list(writer);
    write_end(writer, prompt);
    text_release(&title);
}

static void write_form(struct json_writer *writer, const struct prompt *prompt)
{
    struct text title = { 0 }, words = { 0 };
    char server[ARGUMENT_QUOTE_BYTES];

    arguments_quote(prompt->server, strlen(prompt->server), server);
    i18n_format(&title, TEXT_PROMPT_FORM_TITLE, "client", prompt->client, "server", server, NULL);
    text_add_text(&words, prompt->message);
    add_origin(&words, prompt);
    json_write_text(writer, "title", text_string(&title));
    json_write_text(writer, "message", text_string(&words));
    json_write_value(writer, "requestedSchema", prompt->input);
    write_end(writer, prompt);
    text_release(&title);
    text_release(&words);
}

static void write_next(struct json_writer *writer, const struct prompt *prompt)
{
    struct text title = { 0 }, words = { 0 };

    i18n_format(&title, TEXT_PROMPT_NEXT_TITLE, "client", prompt->client, NULL);
    i18n_format(&words, TEXT_PROMPT_NEXT, "client", prompt->client, NULL);
    text_add_text(&words, "\n");
    if (prompt->message && strlen(prompt->message) < LIMIT_PROMPT_BYTES / 2)
        add_block(&words, prompt->message, strlen(prompt->message));
    write_texts(writer, &title, &words);
    json_write_text(writer, "selection_mode", "text_input");
    write_end(writer, prompt);
    text_release(&title);
    text_release(&words);
}

const char *prompt_write_arguments(const struct prompt *prompt, struct json_writer *writer)
{
    switch (prompt->kind) {
    case PROMPT_PERMISSION:
        return write_permission(writer, prompt) ? tool_provide_choice.name : NULL;
    case PROMPT_QUESTIONS:
        write_questions(writer, prompt);
        return tool_ask_user_question.name;
    case PROMPT_FORM:
        write_form(writer, prompt);
        return tool_elicit_form.name;
    case PROMPT_NEXT:
        break;
    }
    write_next(writer, prompt);
    return tool_provide_choice.name;
}

/* By a person who is not the agent itself, or by a rule of theirs. */
static bool is_decided(const struct json *result)
{
    return (json_is_true(json_member(result, "explicit")) || json_member_text(result, "rule")) &&
           !json_is_true(json_member(json_member(result, "answered_by"), "same_process_tree"));
}

/* What they decided. */
struct choice {
    bool is_made, is_allowed;
    int always; /* index of the suggestion that was picked; -1: none */
};

/* The act that was picked, without the digest; "": none of this prompt. */
static void read_act(const struct prompt *prompt, const struct json *result, char act[ACT_BYTES])
{
    const struct json *ids = json_member(json_member(result, "selection"), "selected_ids");
    const char *id = json_text(json_item(ids, 0)), *colon = id ? strchr(id, ':') : NULL;
    bool is_ours = colon && json_length(ids) == 1 && colon - id < ACT_BYTES &&
                   strcmp(colon + 1, prompt->digest) == 0;

    snprintf(act, ACT_BYTES, "%.*s", is_ours ? (int)(colon - id) : 0, is_ours ? id : "");
}

static bool is_offered(const struct prompt *prompt, size_t index)
{
    const struct json *suggestion = json_item(prompt->suggestions, index);
    struct text rules = { 0 };
    bool is_so = !prompt->is_destructive && place_of(suggestion) && add_rules(suggestion, &rules);

    text_release(&rules);
    return is_so;
}

static void read_permission(const struct prompt *prompt, const struct json *result,
                            struct choice *choice)
{
    char act[ACT_BYTES], name[ACT_BYTES];

    read_act(prompt, result, act);
    for (size_t i = 0; i < json_length(prompt->suggestions) && i < MAX_ALWAYS; i++) {
        snprintf(name, sizeof name, ACT_ALWAYS, i);
        if (strcmp(name, act) == 0 && is_offered(prompt, i))
            choice->always = (int)i;
    }
    choice->is_allowed = choice->always >= 0 || strcmp(act, "allow") == 0;
    choice->is_made = choice->is_allowed || strcmp(act, "deny") == 0;
}

/* What the agent is to do next. */
static const char *words_of(const struct json *result)
{
    const char *words = json_member_text(json_member(result, "selection"), "custom_input");

    return words && !visible_is_empty(words, strlen(words)) ? words : NULL;
}

static struct choice read_choice(const struct prompt *prompt, const struct json *result)
{
    enum ending ending = outcome_read(result);
    struct choice choice = { .is_allowed = ending == ENDING_ANSWERED, .always = -1 };
    bool may_count =
        ending == ENDING_ANSWERED || (ending == ENDING_DECLINED && prompt->kind == PROMPT_FORM);

    if (!may_count || !is_decided(result))
        return (struct choice){ .always = -1 };
    if (prompt->kind == PROMPT_PERMISSION)
        read_permission(prompt, result, &choice);
    else if (prompt->kind == PROMPT_QUESTIONS)
        choice.is_made = json_kind(json_member(result, "answers")) == KIND_OBJECT;
    else
        choice.is_made = prompt->kind == PROMPT_FORM || words_of(result);
    return choice;
}

/* A process of this machine's, without a token; of all others it isn't known where they are. */
static bool is_here(const struct json *result)
{
    const struct json *by = json_member(result, "answered_by");

    return json_member_integer(by, "pid", 0) > 0 && !json_member(by, "token");
}

/* As it was suggested, but for where it is kept. */
static void write_update(struct json_writer *writer, const struct json *suggestion, bool is_local)
{
    json_write_list(writer, "updatedPermissions");
    json_write_object(writer, NULL);
    json_write_text(writer, "type", "addRules");
    json_write_value(writer, "rules", json_member(suggestion, "rules"));
    json_write_text(writer, "behavior", "allow");
    json_write_text(writer, "destination",
                    is_local ? json_member_text(suggestion, "destination") : places[0].name);
    json_write_end_object(writer);
    json_write_end_list(writer);
}

static void write_notes(struct json_writer *writer, const struct json *list)
{
    json_write_object(writer, "annotations");
    for (size_t i = 0; i < json_length(list); i++) {
        const struct json *item = json_item(list, i);
        const char *question = json_member_text(item, "question");
        const char *note = json_member_text(item, "notes");

        if (!note || !question)
            continue;
        json_write_foreign_key(writer, question);
        json_write_object(writer, NULL);
        json_write_text(writer, "notes", note);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

/* What the client's own tool would have been called with, and the answers. */
static void write_answers(struct json_writer *writer, const struct prompt *prompt,
                          const struct json *result)
{
    static const char *const ours[] = { "answers", "annotations" };

    json_write_object(writer, "updatedInput");
    for (void *it = json_first(prompt->input); it; it = json_next(prompt->input, it)) {
        if (text_is_among(json_key(it), ours, ARRAY_LEN(ours)))
            continue;
        json_write_foreign_key(writer, json_key(it));
        json_write_value(writer, NULL, json_value(it));
    }
    json_write_value(writer, "answers", json_member(result, "answers"));
    write_notes(writer, json_member(result, "answer_list"));
    json_write_end_object(writer);
}

static void write_deny(struct json_writer *writer, const char *why, const struct json *result)
{
    const char *note = json_member_text(json_member(result, "selection"), "global_annotation");
    struct text message = { 0 };

    text_add_text(&message, why);
    if (note)
        text_add_format(&message, " They wrote: %s", note);
    json_write_text(writer, "behavior", "deny");
    json_write_text(writer, "message", text_string(&message));
    text_release(&message);
}

/* `says_input`: an allow must say what runs. */
static void write_behavior(struct json_writer *writer, const struct prompt *prompt,
                           const struct json *result, const struct choice *choice, bool says_input)
{
    if (!choice->is_allowed) {
        write_deny(writer, said_no, result);
        return;
    }
    json_write_text(writer, "behavior", "allow");
    if (prompt->kind == PROMPT_QUESTIONS)
        write_answers(writer, prompt, result);
    else if (says_input)
        json_write_value(writer, "updatedInput", prompt->input);
    if (choice->always >= 0)
        write_update(writer, json_item(prompt->suggestions, (size_t)choice->always),
                     is_here(result));
}

static void write_specific(struct json_writer *writer, const struct prompt *prompt,
                           const struct json *result, const struct choice *choice)
{
    json_write_object(writer, "hookSpecificOutput");
    json_write_text(writer, "hookEventName", prompt->event);
    if (prompt->kind == PROMPT_FORM) {
        json_write_text(writer, "action", choice->is_allowed ? "accept" : "decline");
        if (choice->is_allowed)
            json_write_value(writer, "content", json_member(result, "content"));
    } else {
        json_write_object(writer, "decision");
        write_behavior(writer, prompt, result, choice, false);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

bool prompt_write_decision(const struct prompt *prompt, const struct json *result,
                           struct json_writer *writer)
{
    struct choice choice = read_choice(prompt, result);

    if (choice.is_made && prompt->kind == PROMPT_NEXT) {
        json_write_text(writer, "decision", "block");
        json_write_text(writer, "reason", words_of(result));
    } else if (choice.is_made) {
        write_specific(writer, prompt, result, &choice);
    }
    return choice.is_made;
}

void prompt_write_permission(const struct prompt *prompt, const struct json *result,
                             struct json_writer *writer)
{
    struct choice choice = read_choice(prompt, result);

    if (choice.is_made)
        write_behavior(writer, prompt, result, &choice, true);
    else
        write_deny(writer, said_nothing, result);
}

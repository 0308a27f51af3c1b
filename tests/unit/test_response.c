/*
 * test_response.c - the result an agent reads, each way an ask can end.
 * Proves: R2.2, R2.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/response.h"

static const char ID[] = "abcdefghijklmnopqrstuvwxyz";
#define COMMAND "/usr/bin/sayso attach --launch k3"
#define URL     "http://127.0.0.1:7297/choice/abc"

static struct form make_form(enum field_kind kind)
{
    static const char *const ids[] = { "a", "b", "c" };
    static const char *const labels[] = { "Alpha", "Beta", "Gam\nma" };
    struct form form = { .fields = mem_new(sizeof *form.fields),
                         .field_count = 1,
                         .allow_annotations = true };
    struct field *field = form.fields;

    *field = (struct field){ .name = mem_text("choice"),
                             .kind = kind,
                             .is_required = true,
                             .min_selections = kind == FIELD_SINGLE,
                             .max_selections = kind == FIELD_SINGLE ? 1 : 3,
                             .placeholder = mem_text("a word"),
                             .placeholder_visible = true };
    if (kind != FIELD_SINGLE && kind != FIELD_MULTI && kind != FIELD_HYBRID)
        return form;
    field->option_count = ARRAY_LEN(ids);
    field->options = mem_new(sizeof ids / sizeof *ids * sizeof *field->options);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        field->options[i] = (struct option){ .id = mem_text(ids[i]),
                                             .label = mem_text(labels[i]),
                                             .is_default = i == 1 };
    return form;
}

/* JSON in these tables has ' for ", so that it can be read. */
static struct json *parse(const char *json)
{
    char *quoted = mem_text(json);
    struct json *value = NULL;

    for (char *at = strchr(quoted, '\''); at; at = strchr(at, '\''))
        *at = '"';
    if (!json_parse(quoted, strlen(quoted), &value, NULL))
        fail_msg("not JSON: %s", quoted);
    free(quoted);
    return value;
}

/* One ending. `wanted` is the whole result but session_id, instructions and answered_by. */
struct how_it_ended {
    const char *name;
    enum ask_state state;
    enum field_kind kind;
    const char *answer; /* NULL: none */
    const char *rule, *asked_back, *cancel_note, *command;
    const char *wanted;
    const char *instructions; /* something they say; NULL: there are none */
    bool is_answered;         /* answered_by and answered_at are there */
};

static const struct how_it_ended endings[] = {
    { .name = "submitted with a pick",
      .state = STATE_SUBMITTED,
      .kind = FIELD_SINGLE,
      .answer = "{'selected_ids':['c']}",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':['c'],"
                "'interface':'web','summary':'Gam\\\\nma'}}",
      .is_answered = true },
    { .name = "untouched defaults",
      .state = STATE_SUBMITTED,
      .kind = FIELD_MULTI,
      .answer = "{}",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':['b'],"
                "'interface':'web','summary':'Beta'}}",
      .is_answered = true },
    { .name = "submitted with nothing where that is allowed",
      .state = STATE_SUBMITTED,
      .kind = FIELD_MULTI,
      .answer = "{'selected_ids':[]}",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':[],"
                "'interface':'web','summary':'nothing chosen'}}",
      .is_answered = true },
    { .name = "picks, text and notes, in the options' order",
      .state = STATE_SUBMITTED,
      .kind = FIELD_HYBRID,
      .answer = "{'selected_ids':['b','a'],'custom_input':'and this','global_annotation':'g',"
                "'option_annotations':{'c':'not c'}}",
      .cancel_note = "not cancelled, so not printed",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{"
                "'selected_ids':['a','b'],'custom_input':'and this',"
                "'option_annotations':{'c':'not c'},'global_annotation':'g',"
                "'placeholder_visible':true,'interface':'web',"
                "'summary':'Alpha, Beta, \\\"and this\\\"'}}",
      .is_answered = true },
    { .name = "text alone in hybrid",
      .state = STATE_SUBMITTED,
      .kind = FIELD_HYBRID,
      .answer = "{'selected_ids':[],'custom_input':'neither'}",
      .wanted = "{'action_status':'custom_input','explicit':true,'selection':{'selected_ids':[],"
                "'custom_input':'neither','placeholder_visible':true,'interface':'web',"
                "'summary':'\\\"neither\\\"'}}",
      .is_answered = true },
    { .name = "text alone",
      .state = STATE_SUBMITTED,
      .kind = FIELD_TEXT,
      .answer = "{'custom_input':'two\\nlines'}",
      .wanted = "{'action_status':'custom_input','explicit':true,'selection':{'selected_ids':[],"
                "'custom_input':'two\\nlines','placeholder_visible':true,'interface':'web',"
                "'summary':'\\\"two\\\\nlines\\\"'}}",
      .is_answered = true },
    { .name = "a number is no text",
      .state = STATE_SUBMITTED,
      .kind = FIELD_NUMBER,
      .answer = "{'fields':{'choice':2.5}}",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':[],"
                "'interface':'web','summary':'2.5'}}",
      .is_answered = true },
    { .name = "a no is no text",
      .state = STATE_SUBMITTED,
      .kind = FIELD_CONFIRM,
      .answer = "{'fields':{'choice':false}}",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':[],"
                "'interface':'web','summary':'no'}}",
      .is_answered = true },
    { .name = "a yes",
      .state = STATE_SUBMITTED,
      .kind = FIELD_CONFIRM,
      .answer = "{'fields':{'choice':true}}",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':[],"
                "'interface':'web','summary':'yes'}}",
      .is_answered = true },
    { .name = "cancelled, a draft left behind",
      .state = STATE_CANCELLED,
      .kind = FIELD_SINGLE,
      .answer = "{'selected_ids':['a']}",
      .cancel_note = "not today",
      .wanted = "{'action_status':'cancelled','explicit':true,'selection':{'selected_ids':[],"
                "'global_annotation':'not today','interface':'web','summary':'Cancelled'}}",
      .instructions = "Stop this subtask and assume nothing",
      .is_answered = true },
    { .name = "cancelled without a word",
      .state = STATE_CANCELLED,
      .kind = FIELD_HYBRID,
      .wanted = "{'action_status':'cancelled','explicit':true,'selection':{'selected_ids':[],"
                "'placeholder_visible':true,'interface':'web','summary':'Cancelled'}}",
      .instructions = "assume nothing",
      .is_answered = true },
    { .name = "declined",
      .state = STATE_DECLINED,
      .kind = FIELD_SINGLE,
      .wanted = "{'action_status':'cancelled','explicit':true,'declined':true,'selection':{"
                "'selected_ids':[],'interface':'web','summary':'Declined'}}",
      .instructions = "The user said no",
      .is_answered = true },
    { .name = "withdrawn by the agent",
      .state = STATE_WITHDRAWN,
      .kind = FIELD_SINGLE,
      .cancel_note = "nobody's",
      .wanted = "{'action_status':'cancelled','explicit':false,'withdrawn':true,'selection':{"
                "'selected_ids':[],'interface':'web','summary':'Withdrawn by the agent'}}",
      .instructions = "Nothing was chosen" },
    { .name = "deadline, nothing submitted",
      .state = STATE_TIMEOUT,
      .kind = FIELD_SINGLE,
      .answer = "{'selected_ids':['a']}",
      .wanted = "{'action_status':'timeout','explicit':false,'selection':{'selected_ids':[],"
                "'interface':'web','summary':'Timed out'}}",
      .instructions = "a longer timeout_seconds" },
    { .name = "deadline, the person's setting submits the defaults",
      .state = STATE_AUTO_SUBMITTED,
      .kind = FIELD_MULTI,
      .answer = "{}",
      .wanted = "{'action_status':'timeout','explicit':false,'auto_submitted':true,'selection':{"
                "'selected_ids':['b'],'interface':'web',"
                "'summary':'Timed out; defaults submitted: Beta'}}",
      .instructions = "the user did not decide" },
    { .name = "a rule",
      .state = STATE_AUTO_SUBMITTED,
      .kind = FIELD_SINGLE,
      .answer = "{'selected_ids':['a']}",
      .rule = "always Alpha",
      .wanted = "{'action_status':'selected','explicit':false,'auto_submitted':true,"
                "'rule':'always Alpha','selection':{'selected_ids':['a'],'interface':'web',"
                "'summary':'Answered by a rule: Alpha'}}",
      .is_answered = true },
    { .name = "a rule decides nothing once a person did",
      .state = STATE_SUBMITTED,
      .kind = FIELD_SINGLE,
      .answer = "{'selected_ids':['a']}",
      .rule = "always Beta",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':['a'],"
                "'interface':'web','summary':'Alpha'}}",
      .is_answered = true },
    { .name = "pending, defaults are no answer",
      .state = STATE_PENDING,
      .kind = FIELD_MULTI,
      .answer = "{}",
      .wanted = "{'action_status':'pending','explicit':false,'url':'" URL "','selection':{"
                "'selected_ids':[],'interface':'web','summary':'Waiting for an answer'}}",
      .instructions = "call get_answer with this session_id to collect the answer. Do not ask "
                      "again, and assume nothing" },
    { .name = "not yet created",
      .state = STATE_NEW,
      .kind = FIELD_SINGLE,
      .wanted = "{'action_status':'pending','explicit':false,'url':'" URL "','selection':{"
                "'selected_ids':[],'interface':'web','summary':'Waiting for an answer'}}",
      .instructions = "collect the answer" },
    { .name = "the person asks back",
      .state = STATE_PENDING,
      .kind = FIELD_SINGLE,
      .asked_back = "Which region?",
      .wanted = "{'action_status':'pending','explicit':false,'asked_back':'Which region?',"
                "'url':'" URL "','selection':{'selected_ids':[],'interface':'web',"
                "'summary':'Follow-up question'}}",
      .instructions = "see asked_back" },
    { .name = "asked back, then answered",
      .state = STATE_SUBMITTED,
      .kind = FIELD_SINGLE,
      .answer = "{'selected_ids':['a']}",
      .asked_back = "Which region?",
      .wanted = "{'action_status':'selected','explicit':true,'selection':{'selected_ids':['a'],"
                "'interface':'web','summary':'Alpha'}}",
      .is_answered = true },
    { .name = "hand-off to a terminal",
      .state = STATE_PENDING_TERMINAL_LAUNCH,
      .kind = FIELD_SINGLE,
      .command = COMMAND,
      .wanted = "{'action_status':'pending_terminal_launch','explicit':false,'url':'" URL "',"
                "'terminal_command':'" COMMAND "','selection':{'selected_ids':[],"
                "'interface':'web','summary':'" COMMAND "','url':'" URL "'}}",
      .instructions = "Run terminal_command once, where the user can see it. Then call "
                      "get_answer with this session_id" },
    { .name = "hand-off, the command was given before",
      .state = STATE_PENDING_TERMINAL_LAUNCH,
      .kind = FIELD_SINGLE,
      .wanted = "{'action_status':'pending_terminal_launch','explicit':false,'url':'" URL "',"
                "'selection':{'selected_ids':[],'interface':'web',"
                "'summary':'Waiting for a terminal','url':'" URL "'}}",
      .instructions = "a new terminal_command" },
    { .name = "a command is of no use afterwards",
      .state = STATE_TIMEOUT,
      .kind = FIELD_SINGLE,
      .command = COMMAND,
      .wanted = "{'action_status':'timeout','explicit':false,'selection':{'selected_ids':[],"
                "'interface':'web','summary':'Timed out'}}",
      .instructions = "Nothing was chosen" },
};

static struct json *respond(const struct response_facts *facts)
{
    struct text out = { 0 };
    struct json *value = NULL;

    response_write(facts, &out);
    assert_true(json_parse(out.bytes, out.used, &value, NULL));
    text_release(&out);
    return value;
}

static void drop_checked(struct json *got, const struct how_it_ended *ending)
{
    const char *instructions = json_member_text(got, "instructions");

    assert_string_equal(json_member_text(got, "session_id"), ID);
    if (!ending->instructions != !instructions ||
        (instructions && !strstr(instructions, ending->instructions)))
        fail_msg("%s: instructions are %s", ending->name, instructions ? instructions : "missing");
    if (!json_member(got, "answered_by") == ending->is_answered ||
        !json_member(got, "answered_at") == ending->is_answered)
        fail_msg("%s: answered_by or answered_at", ending->name);
    json_drop_member(got, "session_id");
    json_drop_member(got, "instructions");
    json_drop_member(got, "answered_by");
    json_drop_member(got, "answered_at");
}

static void check_ending(const struct how_it_ended *ending)
{
    struct form form = make_form(ending->kind);
    struct answer answer = { 0 };
    struct response_facts facts = { .shape = &response_selection,
                                    .session_id = ID,
                                    .state = ending->state,
                                    .interface = INTERFACE_WEB,
                                    .form = &form,
                                    .cancel_note = ending->cancel_note,
                                    .by = { .person = "ada", .via = "web" },
                                    .answered_ms = 1,
                                    .asked_back = ending->asked_back,
                                    .rule = ending->rule,
                                    .url = URL,
                                    .terminal_command = ending->command };
    struct json *wanted = parse(ending->wanted), *got;

    if (ending->answer) {
        struct json *given = parse(ending->answer);

        assert_true(answer_check(&form, given, &answer, NULL));
        facts.answer = &answer;
        json_free(given);
    }
    got = respond(&facts);
    drop_checked(got, ending);
    if (!json_same(got, wanted))
        fail_msg("%s: got %s", ending->name, json_encode(got));
    json_free(got);
    json_free(wanted);
    answer_release(&answer);
    form_release(&form);
}

static void test_endings(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        check_ending(&endings[i]);
}

/* Whatever else is known, an open or unanswered ask never carries a choice. */
static void test_never_a_guess(void **state)
{
    static const char *const keys[] = { "custom_input", "option_annotations", "global_annotation" };
    struct form form = make_form(FIELD_HYBRID);
    struct json *given = parse("{'selected_ids':['a'],'custom_input':'x','global_annotation':'g',"
                               "'option_annotations':{'a':'n'}}");
    struct answer answer = { 0 };

    (void)state;
    assert_true(answer_check(&form, given, &answer, NULL));
    for (int i = STATE_NEW; i < STATE_COUNT; i++) {
        struct response_facts facts = { .shape = &response_selection,
                                        .session_id = ID,
                                        .state = (enum ask_state)i,
                                        .form = &form,
                                        .answer = &answer };
        bool is_decided = i == STATE_SUBMITTED || i == STATE_AUTO_SUBMITTED;
        bool is_explicit = i == STATE_SUBMITTED || i == STATE_CANCELLED || i == STATE_DECLINED;
        struct json *got = respond(&facts);
        const struct json *selection = json_member(got, "selection");

        assert_int_equal(json_length(json_member(selection, "selected_ids")), is_decided);
        for (size_t k = 0; k < ARRAY_LEN(keys); k++)
            assert_int_equal(json_member(selection, keys[k]) != NULL, is_decided);
        assert_int_equal(json_is_true(json_member(got, "explicit")), is_explicit);
        json_free(got);
    }
    answer_release(&answer);
    json_free(given);
    form_release(&form);
}

static const struct {
    const char *name;
    struct answered_by by;
    const char *wanted;
} deciders[] = {
    { "a terminal",
      { .person = "ada", .via = "terminal", .uid = 1000, .pid = 42, .tty = "/dev/pts/3" },
      "{'person':'ada','via':'terminal','uid':1000,'pid':42,'tty':'/dev/pts/3'}" },
    { "the agent's own child",
      { .person = "ada", .via = "cli", .uid = 0, .pid = 1, .same_process_tree = true },
      "{'person':'ada','via':'cli','uid':0,'pid':1,'tty':null,'same_process_tree':true}" },
    { "no process of this machine",
      { .person = "ada", .via = "api", .uid = -1 },
      "{'person':'ada','via':'api','uid':null,'pid':null,'tty':null}" },
    { "nobody known", { .via = "api" }, "null" },
};

static void test_answered_by(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(deciders); i++) {
        struct response_facts facts = { .shape = &response_selection,
                                        .session_id = ID,
                                        .state = STATE_CANCELLED,
                                        .by = deciders[i].by };
        struct json *got = respond(&facts), *wanted = parse(deciders[i].wanted);
        const struct json *by = json_member(got, "answered_by");

        if (by ? !json_same(by, wanted) : json_kind(wanted) != KIND_NULL)
            fail_msg("%s: %s", deciders[i].name, by ? json_encode(by) : "missing");
        assert_null(json_member(got, "answered_at")); /* no time was given */
        json_free(got);
        json_free(wanted);
    }
}

/* A call that only collects may know no more than the id and the state. */
static void test_bare_facts(void **state)
{
    static const char *const warnings[] = { "cancel_always_available", "defaults_ignored", NULL };
    static const char *const none[] = { NULL };
    struct response_facts facts = {
        .shape = &response_selection, .session_id = ID, .state = STATE_PENDING, .warnings = none
    };
    struct json *got = respond(&facts);
    struct json *wanted = parse("{'selected_ids':[],'summary':'Waiting for an answer'}");

    (void)state;
    assert_true(json_same(json_member(got, "selection"), wanted));
    assert_null(json_member(got, "warnings"));
    assert_null(json_member(got, "notices"));
    assert_null(json_member(got, "replayed"));
    assert_null(json_member(got, "url"));
    json_free(got);
    json_free(wanted);
    facts = (struct response_facts){
        .session_id = ID, .state = STATE_SUBMITTED, .is_replayed = true, .warnings = warnings
    };
    got = respond(&facts);
    assert_true(json_is_true(json_member(got, "replayed")));
    assert_int_equal(json_length(json_member(got, "warnings")), 2);
    json_free(got);
}

/* One line of bounded length whatever was written, cut between characters. */
static void test_long_summary(void **state)
{
    struct form form = make_form(FIELD_TEXT);
    char words[3 * 300 + 1] = "";
    struct field_value value = { .text = words };
    struct answer answer = { .values = &value, .value_count = 1 };
    struct response_facts facts = { .shape = &response_selection,
                                    .session_id = ID,
                                    .state = STATE_SUBMITTED,
                                    .form = &form,
                                    .answer = &answer };
    struct text summary = { 0 };

    (void)state;
    for (size_t i = 0; i < 300; i++)
        memcpy(words + 3 * i, "\xe6\x96\x87", 3);
    response_summary(&facts, &summary);
    assert_true(text_is_utf8(summary.bytes, summary.used));
    assert_int_equal(text_count(summary.bytes, summary.used), 200);
    assert_string_equal(summary.bytes + summary.used - 3, "\xe2\x80\xa6");
    text_clear(&summary);
    words[3 * 198] = '\0'; /* with its quotes exactly as long as may be */
    response_summary(&facts, &summary);
    assert_int_equal(text_count(summary.bytes, summary.used), 200);
    assert_string_equal(summary.bytes + summary.used - 4, "\xe6\x96\x87\"");
    text_release(&summary);
    form_release(&form);
}

/* Text beside any other value is not text alone. */
static void test_text_with_others(void **state)
{
    struct field_value values[] = { { .text = (char[]){ "x" } }, { .has_number = true } };
    struct answer answer = { .values = values, .value_count = 2 };

    (void)state;
    assert_false(answer_is_text_only(&answer));
    values[1] = (struct field_value){ .has_confirm = true };
    assert_false(answer_is_text_only(&answer));
    values[1] = (struct field_value){ 0 };
    assert_true(answer_is_text_only(&answer));
    answer_release(NULL);
}

static const struct {
    int64_t ms;
    const char *wanted;
} times[] = {
    { 0, "1970-01-01T00:00:00.000Z" },
    { 951782399999, "2000-02-28T23:59:59.999Z" },
    { 951782400000, "2000-02-29T00:00:00.000Z" },
    { 951868800000, "2000-03-01T00:00:00.000Z" },
    { 1709164800000, "2024-02-29T00:00:00.000Z" },
    { 1735689599999, "2024-12-31T23:59:59.999Z" },
    { 1794744000123, "2026-11-15T12:00:00.123Z" },
    { 4107542400000, "2100-03-01T00:00:00.000Z" },
    { 253402300799999, "9999-12-31T23:59:59.999Z" },
    { INT64_MAX, "9999-12-31T23:59:59.999Z" },
    { INT64_MIN, "1970-01-01T00:00:00.000Z" },
};

static void test_times(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        char got[32];

        response_write_time(times[i].ms, got);
        assert_string_equal(got, times[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),      cmocka_unit_test(test_never_a_guess),
        cmocka_unit_test(test_answered_by),  cmocka_unit_test(test_bare_facts),
        cmocka_unit_test(test_long_summary), cmocka_unit_test(test_text_with_others),
        cmocka_unit_test(test_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

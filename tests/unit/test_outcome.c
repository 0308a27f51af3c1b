/*
 * test_outcome.c - the words of results: each state in each tool's shape is written, read back, and
 * is the kind of reply that the state asks for.
 * Proves: R2.2 R3.2 R4.1 R5.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/outcome.h"
#include "core/response.h"
#include "core/tools/arguments.h"
#include "rpc/protocol.h"

#define SESSION_ID "abcdefghijklmnopqrstuvwxyz"

/* By hand, so that the table of outcome.c is not asked about itself. */
static const struct written {
    enum ask_state state;
    const char *asked_back, *command, *rule;
    enum ending ending;
    enum reply_kind kind;
} rows[] = {
    { STATE_NEW, NULL, NULL, NULL, ENDING_PENDING, REPLY_PENDING },
    { STATE_PENDING_TERMINAL_LAUNCH, NULL, NULL, NULL, ENDING_PENDING, REPLY_TOLD },
    { STATE_PENDING_TERMINAL_LAUNCH, NULL, "sayso attach", NULL, ENDING_PENDING, REPLY_TOLD },
    { STATE_PENDING_TERMINAL_LAUNCH, "why?", NULL, NULL, ENDING_PENDING, REPLY_TOLD },
    { STATE_PENDING, NULL, NULL, NULL, ENDING_PENDING, REPLY_PENDING },
    { STATE_PENDING, "why?", NULL, NULL, ENDING_PENDING, REPLY_TOLD },
    { STATE_SUBMITTED, NULL, NULL, NULL, ENDING_ANSWERED, REPLY_FINAL },
    { STATE_SUBMITTED, "why?", NULL, NULL, ENDING_ANSWERED, REPLY_FINAL },
    { STATE_AUTO_SUBMITTED, NULL, NULL, NULL, ENDING_TIMEOUT, REPLY_FINAL },
    { STATE_AUTO_SUBMITTED, NULL, NULL, "r", ENDING_ANSWERED, REPLY_FINAL },
    { STATE_CANCELLED, NULL, NULL, NULL, ENDING_CANCELLED, REPLY_FINAL },
    { STATE_DECLINED, NULL, NULL, NULL, ENDING_DECLINED, REPLY_FINAL },
    { STATE_TIMEOUT, NULL, NULL, NULL, ENDING_TIMEOUT, REPLY_FINAL },
    { STATE_WITHDRAWN, NULL, NULL, NULL, ENDING_WITHDRAWN, REPLY_FINAL },
};

static enum ending read_text(const char *text)
{
    struct json *result = NULL;
    enum ending ending;

    assert_true(json_parse(text, strlen(text), &result, NULL));
    ending = outcome_read(result);
    json_free(result);
    return ending;
}

static void check(const struct response_facts *facts, const char *tool, const struct written *row)
{
    struct text out = { 0 };

    if (response_write(facts, &out) != row->kind)
        fail_msg("%s: %s is another kind of reply", tool, text_string(&out));
    if (read_text(text_string(&out)) != row->ending)
        fail_msg("%s: %s is read as another ending", tool, text_string(&out));
    text_release(&out);
}

static void test_what_is_written_is_read_back(void **state)
{
    bool is_seen[STATE_COUNT] = { false };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct response_facts facts = { .session_id = SESSION_ID,
                                        .state = rows[i].state,
                                        .asked_back = rows[i].asked_back,
                                        .terminal_command = rows[i].command,
                                        .rule = rows[i].rule };

        is_seen[rows[i].state] = true;
        check(&facts, "an unknown tool", &rows[i]);
        for (size_t at = 0; ask_tool_at(at); at++) {
            facts.shape = ask_tool_at(at)->response;
            check(&facts, ask_tool_at(at)->name, &rows[i]);
        }
    }
    for (size_t i = 0; i < STATE_COUNT; i++)
        assert_true(is_seen[i]);
}

/* Answers whose words differ though the state does not. */
static void test_answers(void **state)
{
    struct field fields[] = { { .name = (char *)"value", .kind = FIELD_TEXT } };
    struct form form = { .fields = fields, .field_count = 1 };
    struct field_value value = { .text = (char *)"words" };
    struct answer answer = { .values = &value, .value_count = 1 };
    struct response_facts facts = { .session_id = SESSION_ID,
                                    .state = STATE_SUBMITTED,
                                    .form = &form,
                                    .answer = &answer,
                                    .shape = &response_selection };

    (void)state;
    check(&facts, "text alone",
          &(struct written){ .ending = ENDING_ANSWERED, .kind = REPLY_FINAL });
    fields[0].kind = FIELD_CONFIRM;
    value = (struct field_value){ .has_confirm = true };
    facts.shape = ask_tool_find("elicit_confirm")->response;
    check(&facts, "a no", &(struct written){ .ending = ENDING_DECLINED, .kind = REPLY_FINAL });
    value.confirmed = true;
    check(&facts, "a yes", &(struct written){ .ending = ENDING_ANSWERED, .kind = REPLY_FINAL });
}

static void test_other_words_are_no_answer(void **state)
{
    static const char *const strange[] = {
        "{}",
        "[]",
        "null",
        "{\"action\":7}",
        "{\"action\":\"selected\"}",
        "{\"action_status\":\"accept\"}",
        "{\"status\":\"accept\"}",
        "{\"status\":\"answered\",\"declined\":true}",
        "{\"action_status\":\"selected\",\"withdrawn\":true}",
        "{\"action\":\"maybe\",\"action_status\":\"selected\",\"status\":\"answered\"}",
        "{\"action\":\"\"}",
        "{\"Action\":\"accept\"}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(strange); i++) {
        if (read_text(strange[i]) != ENDING_UNKNOWN)
            fail_msg("%s has an ending", strange[i]);
    }
}

static void test_names_of_replies(void **state)
{
    (void)state;
    for (enum reply_kind kind = REPLY_FINAL; kind <= REPLY_INPUT; kind++)
        assert_int_equal(reply_kind_find(reply_kind_name(kind)), kind);
    assert_int_equal(reply_kind_find(NULL), REPLY_PLAIN);
    assert_int_equal(reply_kind_find(""), REPLY_PLAIN);
    assert_int_equal(reply_kind_find("Final"), REPLY_PLAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read_back),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_other_words_are_no_answer),
        cmocka_unit_test(test_names_of_replies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

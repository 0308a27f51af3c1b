/*
 * test_tui_ask.c - one question as a model: which keys lead to which acts, and that nothing answers
 * by accident.
 * Proves: R6.1 R6.4 R2.3 P13
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"
#include "tui_fixture.h"
#include "tui_forms.h"

#define LEFT              "\033[D"
#define RIGHT             "\033[C"
#define UP                "\033[A"
#define DOWN              "\033[B"
#define ESC               "\033"
#define CTRL_C            "\003"
#define CTRL_D            "\004"
#define CTRL_Z            "\032"
#define ENTER             "\r"
#define PASTE(it)         "\033[200~" it "\033[201~"
#define ANSWER(it)        "ANSWER {\"selected_ids\":[" it "]}\n"
#define MIXED(ids, words) "ANSWER {\"selected_ids\":[" ids "],\"custom_input\":\"" words "\"}\n"
#define REGIONS(kind)                                                                              \
    FORM("Where?", "Where?",                                                                       \
         "{\"name\":\"choice\",\"kind\":\"" kind "\",\"required\":true,\"options\":["              \
         "{\"id\":\"eu\",\"label\":\"Europe\"},{\"id\":\"us\",\"label\":\"United States\"}],"      \
         "\"max_selections\":2}",                                                                  \
         "")

static const char regions_form[] = REGIONS("multi"), mixed_form[] = REGIONS("hybrid");
static const char sure_form[] =
    FORM("Sure?", "Sure?", "{\"name\":\"ok\",\"kind\":\"confirm\",\"required\":true}", "");
static const char both_form[] = FORM("Sure?", "Sure?",
                                     "{\"name\":\"ok\",\"kind\":\"confirm\",\"required\":true},"
                                     "{\"name\":\"again\",\"kind\":\"confirm\",\"required\":true}",
                                     "");

static const struct {
    const char *name, *form, *keys, *acts;
} cases[] = {
    { "Enter picks and sends", cache_form, ENTER, ANSWER("\"redis\"") },
    { "a digit sends", cache_form, "3", ANSWER("\"process\"") },
    { "j and Enter", cache_form, "jj" ENTER, ANSWER("\"process\"") },
    { "k wraps", cache_form, "k" ENTER, ANSWER("\"leave\"") },
    { "arrows only move", cache_form, DOWN DOWN UP, "" },
    { "a digit that is no option", cache_form, "9", "" },
    { "Space does not send", cache_form, " ", "" },
    { "Space, then Ctrl-D", cache_form, "j " CTRL_D, ANSWER("\"view\"") },
    { "a paste never answers", cache_form, PASTE("1\r") PASTE("\r"), "" },
    { "Tab, a note, Enter twice", cache_form, "\tbecause" ENTER, "" },
    { "Ctrl-D from the note", cache_form, "\tbecause" CTRL_D,
      "ANSWER {\"selected_ids\":[\"redis\"],\"option_annotations\":{\"redis\":\"because\"}}\n" },
    { "n, common note, Ctrl-D", cache_form, "jnwhy\t" CTRL_D, "" },
    { "with a note a digit only picks", cache_form, "nwhy\t3", "" },
    { "with a note Enter sends", cache_form, "nwhy\t2\r",
      "ANSWER {\"selected_ids\":[\"view\"],\"global_annotation\":\"why\"}\n" },
    { "Esc drops the note", cache_form, "nwhy" ESC, "" },
    { "q, then keep it open", cache_form, "qwhy" ESC, "" },
    { "filter and Enter", cache_form, "/mater\r\r", ANSWER("\"view\"") },
    { "letters in the filter are text", cache_form, "/123q", "" },
    { "e is five minutes from now", cache_form, "e", "EXTEND 552\n" },
    { "w with the portal", cache_form, "w", "BROWSER\n" },
    { "Ctrl-C leaves", cache_form, CTRL_C, "QUIT\n" },
    { "Ctrl-Z", cache_form, CTRL_Z, "SUSPEND\n" },
    { "[ is the inbox's", cache_form, "[]", "" },
    { "multi: untouched defaults need two", checks_form, ENTER, "" },
    { "multi: and then they go", checks_form, ENTER ENTER, ANSWER("\"unit\",\"type\"") },
    { "multi: ticks in the order of options", checks_form, "31\r", ANSWER("\"type\",\"browser\"") },
    { "multi: never above the maximum", checks_form, "3456\r",
      ANSWER("\"unit\",\"type\",\"browser\"") },
    { "multi: below the minimum is refused", checks_form, "x\r", "" },
    { "multi: a ticks up to the maximum", checks_form, "a\r",
      ANSWER("\"unit\",\"type\",\"browser\"") },
    { "hybrid: own words", endpoint_form, "oGET /x" CTRL_D,
      "ANSWER {\"selected_ids\":[],\"custom_input\":\"GET /x\"}\n" },
    { "hybrid: Enter is a new line", endpoint_form, "oa\rb" CTRL_D,
      "ANSWER {\"selected_ids\":[],\"custom_input\":\"a\\nb\"}\n" },
    { "hybrid: an option instead", endpoint_form, "oGET" ESC "2\r",
      "ANSWER {\"selected_ids\":[\"b\"],\"custom_input\":\"\"}\n" },
    { "hybrid: a paste is text", endpoint_form, "o" PASTE("a\r\nb") CTRL_D,
      "ANSWER {\"selected_ids\":[],\"custom_input\":\"a\\nb\"}\n" },
    { "hybrid: none of them, where none is enough, is meant by a second key", endpoint_form,
      "o" CTRL_D CTRL_D, MIXED("", "") },
    { "hybrid: and not by one", endpoint_form, "o" CTRL_D, "" },
    { "multi: with nothing ticked Enter ticks", regions_form, "j" ENTER, "" },
    { "multi: and the next sends", regions_form, "j" ENTER ENTER, ANSWER("\"us\"") },
    { "multi: none of them is said first", regions_form, "x" ENTER, "" },
    { "multi: and then meant", regions_form, "x" ENTER ENTER, ANSWER("") },
    { "multi: the last tick taken away is none of them too", regions_form, "  " ENTER ENTER,
      ANSWER("") },
    { "multi: until the cursor moves", regions_form, "xj" ENTER ENTER, ANSWER("\"us\"") },
    { "multi: what was said counts once", regions_form, "x" ENTER "1 x" ENTER, "" },
    { "multi: Ctrl-D sends nothing without being meant", regions_form, CTRL_D, "" },
    { "multi: and again it does", regions_form, CTRL_D CTRL_D, ANSWER("") },
    { "multi: Enter ticks nothing that the filter hides", regions_form, "/zzz\r\r\r", ANSWER("") },
    { "hybrid: Enter ticks in the list", mixed_form, ENTER ENTER, MIXED("\"eu\"", "") },
    { "hybrid: also while a text is there", mixed_form, "oboth" ESC "kk" ENTER ENTER,
      MIXED("\"eu\"", "both") },
    { "hybrid: Enter on the text sends it alone", mixed_form, "oboth" ESC ENTER,
      MIXED("", "both") },
    { "hybrid: o goes on with the text that Esc kept", mixed_form, "obo" ESC "kkoth" CTRL_D,
      MIXED("", "both") },
    { "hybrid: one of many is picked and sent at once", endpoint_form, "oGET" ESC "k" ENTER,
      MIXED("\"c\"", "") },
    { "confirm: y", sure_form, "y", "ANSWER {\"fields\":{\"ok\":true}}\n" },
    { "confirm: n", sure_form, "n", "ANSWER {\"fields\":{\"ok\":false}}\n" },
    { "confirm: the note is behind Tab", sure_form, "\tyn\rn",
      "ANSWER {\"fields\":{\"ok\":false},\"global_annotation\":\"yn\"}\n" },
    { "two confirmations: each has its key, the review sends", both_form, "yn\r",
      "ANSWER {\"fields\":{\"ok\":true,\"again\":false}}\n" },
    { "y and n are no answers elsewhere", cache_form, "y", "" },
    { "destructive: Enter asks for a code", volumes_form, "3\r", "CHALLENGE\n" },
    { "destructive: the safe one takes no code", volumes_form, "1\r", ANSWER("\"keep-all\"") },
    { "destructive: a digit only picks", volumes_form, "3", "" },
    { "destructive: once is enough", volumes_form, "3\r\r\r", "CHALLENGE\n" },
    { "three questions: Enter goes on, the review sends", release_form,
      ENTER "1\r"
            "2\r\r",
      "ANSWER {\"fields\":{\"version\":\"3.0.0\",\"audience\":{\"selected_ids\":[\"team\"],"
      "\"custom_input\":\"\"},\"rollout\":[\"fast\"]}}\n" },
    { "three questions: none of many is an answer too", release_form, ENTER "x\r\r2\r\r",
      "ANSWER {\"fields\":{\"version\":\"3.0.0\",\"audience\":{\"selected_ids\":[],"
      "\"custom_input\":\"\"},\"rollout\":[\"fast\"]}}\n" },
};

static void keys_become_acts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage stage = { 0 };

        print_message("%s\n", cases[i].name);
        stage_open(&stage, cases[i].form);
        for (const char *at = cases[i].keys; *at;) { /* as fast as people type, not as pastes */
            size_t length = *at == '\033' ? (strncmp(at, "\033[200~", 6) == 0
                                                 ? (size_t)(strstr(at, "\033[201~") - at) + 6
                                             : at[1] == '[' ? 3
                                                            : 1)
                                          : 1;
            char *key = mem_text_n(at, length);

            stage_type(&stage, key);
            free(key);
            at += length;
        }
        stage_expect_acts(&stage, cases[i].acts);
        stage_close(&stage);
    }
}

static void too_early(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(cache_form, "", "");
    struct json *value = NULL;

    (void)state;
    stage_open(&stage, cache_form); /* prepares the rest */
    ask_screen_free(stage.ask);
    assert_true(json_parse(whole, strlen(whole), &value, NULL));
    assert_true(ask_screen_new(&stage.setup, value, stage.now, &stage.ask, NULL));
    json_free(value);
    free(whole);
    text_clear(&stage.effects);
    stage_type(&stage, ENTER); /* before it was drawn at all */
    stage_expect(&stage, "");
    stage_draw(&stage, 80, 24);
    stage_type(&stage, ENTER); /* 100 ms later */
    stage_expect(&stage, "");
    stage_expect_row(&stage, "too soon; press the key again");
    stage_wait(&stage, 300);
    stage_type(&stage, "\033[O\033[I"); /* another window, and back: the same again */
    stage_type(&stage, "1");
    stage_expect(&stage, "");
    stage_wait(&stage, 500);
    stage_type(&stage, "1");
    stage_expect(&stage, ANSWER("\"redis\""));
    stage_close(&stage);
}

static void two_digits(void **state)
{
    struct stage stage = { 0 };
    struct text form = { 0 };

    (void)state;
    text_add_text(&form, "\"title\":\"T\",\"prompt\":\"T\",\"fields\":[{\"name\":\"choice\","
                         "\"kind\":\"single\",\"required\":true,\"options\":[");
    for (int i = 1; i <= 31; i++)
        text_add_format(&form, "%s{\"id\":\"r%d\",\"label\":\"Region %d\"}", i > 1 ? "," : "", i,
                        i);
    text_add_text(&form, "],\"min_selections\":1,\"max_selections\":1}],\"single_submit\":true");
    stage_open(&stage, text_string(&form));
    stage_type(&stage, "1");
    stage_type(&stage, "2");
    stage_expect(&stage, ANSWER("\"r12\""));
    stage_close(&stage);
    stage_open(&stage, text_string(&form));
    stage_type(&stage, "2");
    stage_expect(&stage, "");
    stage_wait(&stage, 400);
    stage_expect(&stage, ANSWER("\"r2\""));
    stage_close(&stage);
    stage_open(&stage, text_string(&form));
    stage_type(&stage, "7"); /* 70 is none of them */
    stage_expect(&stage, ANSWER("\"r7\""));
    stage_close(&stage);
    text_release(&form);
}

static void cancel_and_decline(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, cache_form);
    stage_type(&stage, ESC);
    stage_type(&stage, "not now");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "CANCEL {\"global_annotation\":\"not now\"}\n");
    stage_take(&stage, NEWS_DECIDED, "{\"status\":\"cancelled\"}");
    stage_expect_acts(&stage, "CLOSE\n");
    assert_int_equal(ask_screen_exit_code(stage.ask), 3);
    stage_close(&stage);
    stage_open(&stage, cache_form);
    stage_type(&stage, "q");
    stage_type(&stage, "\t");
    stage_expect_row(&stage, "Decline this ask?");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "DECLINE {}\n");
    stage_close(&stage);
}

static void second_act(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, volumes_form);
    stage_type(&stage, "3");
    stage_type(&stage, ENTER);
    stage_take(&stage, NEWS_CODE, "{\"code\":\"472\"}");
    text_clear(&stage.effects);
    stage_type(&stage, PASTE("472"));
    stage_type(&stage, ENTER); /* a pasted code is none: back */
    stage_expect(&stage, "");
    stage_type(&stage, ENTER);
    stage_take(&stage, NEWS_CODE, "{\"code\":\"555\"}");
    text_clear(&stage.effects);
    stage_type(&stage, "472");
    stage_type(&stage, ENTER);
    stage_expect(&stage, "");
    stage_expect_row(&stage, "wrong code; nothing was sent");
    stage_type(&stage, "555");
    stage_type(&stage, ENTER);
    stage_expect(&stage, "ANSWER {\"selected_ids\":[\"delete-now\"],\"code\":\"555\"}\n");
    stage_close(&stage);
}

/* A destructive ask cannot be sent before its end was on the screen. */
static void read_to_the_end(void **state)
{
    struct stage stage = { .rows = 0 };
    struct text form = { 0 };

    (void)state;
    text_add_text(&form, "\"title\":\"T\",\"prompt\":\"");
    for (int i = 0; i < 100; i++)
        text_add_format(&form, "line %d\\n\\n", i);
    text_add_text(&form,
                  "\",\"fields\":[{\"name\":\"choice\",\"kind\":\"single\",\"required\":true,"
                  "\"options\":[{\"id\":\"a\",\"label\":\"A\"}],\"min_selections\":1,"
                  "\"max_selections\":1}],\"destructive\":true");
    stage_open(&stage, text_string(&form));
    stage_expect_row(&stage, "m more");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "");
    stage_expect_row(&stage, "read the full question first");
    stage_type(&stage, "m");
    stage_wait(&stage, 10);
    assert_true(ask_screen_wants_alternate(stage.ask));
    stage_type(&stage, "\033[F"); /* End */
    stage_expect_row(&stage, "line 99");
    stage_type(&stage, "m");
    stage_wait(&stage, 10);
    assert_false(ask_screen_wants_alternate(stage.ask));
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "CHALLENGE\n");
    text_release(&form);
    stage_close(&stage);
}

static void hidden_options(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(checks_form, "", ",\"hidden\":[\"unit\",\"h1\"]");

    (void)state;
    stage_open_whole(&stage, whole);
    stage_expect_row(&stage, "2 hidden by your settings (H to show)");
    stage_expect_no_row(&stage, "Unit tests");
    stage_type(&stage, "1"); /* cannot be picked unseen */
    stage_type(&stage, ENTER);
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, ANSWER("\"type\"")); /* a hidden default is not preselected */
    stage_close(&stage);
    stage_open_whole(&stage, whole);
    stage_type(&stage, "H");
    stage_expect_row(&stage, "Unit tests");
    stage_type(&stage, "H");
    stage_type(&stage, "-");
    stage_expect_acts(&stage, "HIDE {\"option_id\":\"type\",\"hidden\":true}\n");
    stage_close(&stage);
    free(whole);
    stage_open(&stage, short_form);
    stage_type(&stage, "-");
    stage_type(&stage, "-");
    stage_expect_acts(&stage, "HIDE {\"option_id\":\"redis\",\"hidden\":true}\n");
    stage_expect_row(&stage, "too few options would be left");
    stage_close(&stage);
    whole = stage_whole(volumes_form, "", ",\"hidden\":[\"delete-now\"]");
    stage_open_whole(&stage, whole); /* destructive asks ignore hiding */
    stage_expect_row(&stage, "Delete all three now");
    stage_close(&stage);
    free(whole);
}

/* The short name an agent gave a question is its tab; nothing in it acts. */
static void headers_are_tabs(void **state)
{
    static const char form[] =
        FORM("T", "T",
             "{\"name\":\"q1\",\"kind\":\"single\",\"label\":\"Which database?\",\"header\":\"Data"
             "\\u001b[2J\",\"options\":[" OPTION("a", "A", "") "," OPTION(
                 "b", "B", "") "]},"
                               "{\"name\":\"q2\",\"kind\":\"single\",\"label\":\"Which "
                               "checks?\",\"header\":\"Checks\","
                               "\"options\":[" OPTION("c", "C", "") "," OPTION("d", "D", "") "]}",
             "");
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, form);
    stage_draw(&stage, 80, 24);
    stage_expect_row(&stage, "1 Data\\x1b[2J    2 Checks");
    stage_expect_row(&stage, "2 Checks");
    stage_expect_row(&stage, "Which database?");
    stage_close(&stage);
}

static void numbers(void **state)
{
    static const char slider[] =
        FORM("T", "T",
             "{\"name\":\"value\",\"kind\":\"number\",\"required\":true,\"integer\":true,"
             "\"minimum\":100,\"maximum\":5000,\"step\":100,\"style\":\"slider\"}",
             "");
    static const char field[] = FORM("T", "T",
                                     "{\"name\":\"value\",\"kind\":\"number\",\"required\":true,"
                                     "\"minimum\":0,\"maximum\":1}",
                                     "");
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, slider);
    stage_type(&stage, ENTER); /* nothing was chosen yet */
    stage_expect_acts(&stage, "");
    stage_type(&stage, RIGHT RIGHT);
    stage_type(&stage, LEFT LEFT LEFT LEFT); /* not below the least */
    stage_type(&stage, "\033[5~");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "ANSWER {\"fields\":{\"value\":1100}}\n");
    stage_close(&stage);
    stage_open(&stage, slider);
    stage_type(&stage, "2550");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "");
    stage_expect_row(&stage, "steps of 100");
    stage_close(&stage);
    stage_open(&stage, field);
    stage_type(&stage, "0.25");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "ANSWER {\"fields\":{\"value\":0.25}}\n");
    stage_close(&stage);
    stage_open(&stage, field);
    stage_type(&stage, "7");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "");
    stage_close(&stage);
}

static void previews_scroll(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, retry_form);
    stage_draw(&stage, 80, 16);
    stage_type(&stage, "p");
    stage_draw(&stage, 80, 16);
    stage_type(&stage, "\033[F"); /* End: its last line, the list stays */
    stage.rows = 16;
    stage_expect_row(&stage, "╎  }");
    stage_expect_row(&stage, "▸ 1  Small change in place");
    stage_type(&stage, "1"); /* while it is scrolled a digit does not send */
    stage_expect(&stage, "");
    stage_type(&stage, "p");
    stage_type(&stage, "v");
    stage_wait(&stage, 1);
    assert_true(ask_screen_wants_alternate(stage.ask));
    stage_expect_no_row(&stage, "A helper of its own");
    stage_type(&stage, ESC);
    stage_wait(&stage, 1);
    assert_false(ask_screen_wants_alternate(stage.ask));
    stage_type(&stage, "j"); /* an option without one */
    stage_expect_no_row(&stage, "client.c");
    stage_close(&stage);
}

static void every_width(void **state)
{
    static const char *const forms[] = { cache_form,   checks_form,  endpoint_form,
                                         volumes_form, release_form, retry_form };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct stage stage = { 0 };

        stage_open(&stage, forms[i]);
        for (int columns = 20; columns <= 300; columns += 7) {
            for (int rows = 8; rows <= 60; rows += 13) {
                stage_draw(&stage, columns, rows);
                if (stage.canvas.rows <= rows || ask_screen_wants_alternate(stage.ask))
                    continue;
                print_message("%s", stage_draw(&stage, columns, rows));
                fail_msg("%zu at %d x %d takes %d rows", i, columns, rows, stage.canvas.rows);
            }
        }
        stage_close(&stage);
    }
}

static void confirm(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, FORM("Go on?", "Go on?",
                            "{\"name\":\"ok\",\"kind\":\"confirm\",\"required\":true}", ""));
    stage_type(&stage, "2"); /* picks, does not send */
    stage_expect_acts(&stage, "");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "ANSWER {\"fields\":{\"ok\":false}}\n");
    stage_close(&stage);
}

static void one_line_and_input_methods(void **state)
{
    struct stage stage = { 0 };

    (void)state;
    stage_open(&stage, FORM("Mail?", "Mail?",
                            "{\"name\":\"mail\",\"kind\":\"text\",\"required\":true,"
                            "\"format\":\"email\",\"max_chars\":50}",
                            ""));
    stage_type(&stage, "你好👨‍👩‍👧‍👦\r"); /* Enter within the same burst is the
                                                                input method's */
    stage_expect_acts(&stage, "");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "");
    stage_expect_row(&stage, "你好");           /* no address: said at the field */
    stage_type(&stage, "\025me@example.org\r"); /* nor does it send what would be right */
    stage_expect_acts(&stage, "");
    stage_type(&stage, ENTER);
    stage_expect_acts(&stage, "ANSWER {\"custom_input\":\"me@example.org\"}\n");
    stage_close(&stage);
}

/* Every hostile text in every place, at every width: nothing but visible cells. */
static void hostile_strings(void **state)
{
    struct text bytes = { 0 };
    struct json *corpus = NULL;
    FILE *file = fopen(TEST_CORPUS "/strings.json", "rb");
    int byte;
    const struct json *all;

    (void)state;
    assert_non_null(file);
    while ((byte = getc(file)) != EOF)
        text_add_char(&bytes, (char)byte);
    fclose(file);
    assert_true(json_parse(bytes.bytes, bytes.used, &corpus, NULL));
    all = json_member(corpus, "cases");
    for (size_t i = 0; i < json_length(all); i++) {
        char *text = json_encode(json_member(json_item(all, i), "text"));
        static const int widths[] = { 20, 40, 80, 200, 300 };
        struct stage stage = { 0 };
        char *form;

        if (strlen(json_member_text(json_item(all, i), "text")) !=
            json_length(json_member(json_item(all, i), "text"))) {
            free(text); /* U+0000 does not get past validation */
            continue;
        }
        form = mem_format("\"title\":%s,\"prompt\":%s,\"fields\":[{\"name\":\"c\",\"kind\":"
                          "\"single\",\"required\":true,\"options\":[{\"id\":%s,\"label\":%s,"
                          "\"description\":%s,\"preview\":{\"type\":\"markdown\",\"text\":%s}}],"
                          "\"min_selections\":1,\"max_selections\":1}],\"destructive\":true,"
                          "\"allow_annotations\":true,\"global_annotation\":%s",
                          text, text, text, text, text, text, text);
        stage_open(&stage, form);
        for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
            const char *drawn = stage_draw(&stage, widths[w], 24);
            struct text again = { 0 };

            /* making it visible once more changes nothing: so all of it was */
            visible_text(drawn, strlen(drawn), VISIBLE_LINES, &again);
            assert_string_equal(text_string(&again), drawn);
            text_release(&again);
        }
        free(form);
        free(text);
        stage_close(&stage);
    }
    json_free(corpus);
    text_release(&bytes);
}

static void plain_signs(void **state)
{
    struct stage stage = { 0 };
    char *whole = stage_whole(checks_form, "", "");

    (void)state;
    stage_open(&stage, checks_form);
    ask_screen_free(stage.ask);
    stage.setup.is_ascii = true;
    stage_open_whole(&stage, whole);
    free(whole);
    for (const char *at = stage_draw(&stage, 80, 24); *at; at++)
        assert_true((unsigned char)*at < 0x80);
    stage_expect_row(&stage, "> [x] 1  Unit tests");
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_become_acts),
        cmocka_unit_test(too_early),
        cmocka_unit_test(two_digits),
        cmocka_unit_test(cancel_and_decline),
        cmocka_unit_test(second_act),
        cmocka_unit_test(read_to_the_end),
        cmocka_unit_test(hidden_options),
        cmocka_unit_test(numbers),
        cmocka_unit_test(headers_are_tabs),
        cmocka_unit_test(confirm),
        cmocka_unit_test(previews_scroll),
        cmocka_unit_test(every_width),
        cmocka_unit_test(one_line_and_input_methods),
        cmocka_unit_test(hostile_strings),
        cmocka_unit_test(plain_signs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

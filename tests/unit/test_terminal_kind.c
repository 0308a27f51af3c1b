/*
 * test_terminal_kind.c - what a terminal can show, from its environment and from its replies.
 * Proves: R6.1 (colors, ASCII, light and dark)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "tui/terminal.h"

static const char *const *environment; /* name, value, …, NULL */

static const char *find(const char *name)
{
    for (size_t i = 0; environment[i]; i += 2) {
        if (strcmp(environment[i], name) == 0)
            return environment[i + 1];
    }
    return NULL;
}

static const struct {
    const char *name;
    const char *environment[9];
    struct terminal_kind wanted;
} kinds[] = {
    { "as most are today",
      { "TERM", "xterm-256color", "COLORTERM", "truecolor", "LANG", "en_US.UTF-8" },
      { .colours = COLOURS_TRUE, .answers = true } },
    { "what tmux has", { "TERM", "tmux-256color" }, { .colours = COLOURS_256, .answers = true } },
    { "sixteen colours are everybody's",
      { "TERM", "xterm" },
      { .colours = COLOURS_16, .answers = true } },
    { "one that is known by its name",
      { "TERM", "xterm-kitty" },
      { .colours = COLOURS_TRUE, .answers = true } },
    { "a terminal of direct colours",
      { "TERM", "xterm-direct" },
      { .colours = COLOURS_TRUE, .answers = true } },
    { "NO_COLOR", { "TERM", "xterm", "NO_COLOR", "1" }, { .colours = COLOURS_NONE } },
    { "NO_COLOR that is empty",
      { "TERM", "xterm", "NO_COLOR", "" },
      { .colours = COLOURS_16, .answers = true } },
    { "the console of Linux",
      { "TERM", "linux", "LANG", "C.UTF-8" },
      { .colours = COLOURS_16, .is_ascii = true } },
    { "a locale without UTF-8",
      { "TERM", "xterm", "LANG", "de_DE.UTF-8", "LC_ALL", "C" },
      { .colours = COLOURS_16, .answers = true, .is_ascii = true } },
    { "written the other way",
      { "TERM", "xterm", "LC_CTYPE", "zh_CN.utf8" },
      { .colours = COLOURS_16, .answers = true } },
    { "the first that could move its cursor",
      { "TERM", "vt100" },
      { .colours = COLOURS_NONE, .lacks_shifts = true } },
    { "it and more", { "TERM", "vt100-am" }, { .colours = COLOURS_NONE, .lacks_shifts = true } },
    { "the first that could move its rows", { "TERM", "vt102" }, { .colours = COLOURS_NONE } },
    { "dumb", { "TERM", "dumb" }, { .is_dumb = true } },
    { "nothing at all", { NULL }, { .is_dumb = true } },
    { "a light background by the environment",
      { "TERM", "rxvt", "COLORFGBG", "0;default;15" },
      { .colours = COLOURS_16, .is_light = true } },
    { "a dark one", { "TERM", "rxvt", "COLORFGBG", "15;0" }, { .colours = COLOURS_16 } },
    { "nonsense", { "TERM", "rxvt", "COLORFGBG", ";" }, { .colours = COLOURS_16 } },
};

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct terminal_kind *wanted = &kinds[i].wanted;
        struct terminal_kind kind;

        environment = kinds[i].environment;
        kind = terminal_kind_of(find);
        if (kind.colours != wanted->colours || kind.is_ascii != wanted->is_ascii ||
            kind.is_dumb != wanted->is_dumb || kind.answers != wanted->answers ||
            kind.is_light != wanted->is_light || kind.lacks_shifts != wanted->lacks_shifts)
            fail_msg("%s: %d %d %d %d %d %d", kinds[i].name, kind.colours, kind.is_ascii,
                     kind.is_dumb, kind.answers, kind.is_light, kind.lacks_shifts);
    }
}

static void test_notices(void **state)
{
    static const struct {
        const char *environment[5];
        enum terminal_notice notice;
        bool has_title;
    } cases[] = {
        { { "TERM", "xterm-256color" }, NOTICE_OSC_9, true },
        { { "TERM", "xterm-kitty" }, NOTICE_OSC_99, true },
        { { "TERM", "rxvt-unicode-256color" }, NOTICE_OSC_777, true },
        { { "TERM", "foot" }, NOTICE_OSC_777, true },
        { { "TERM", "tmux-256color" }, NOTICE_NONE, true },
        { { "TERM", "xterm-256color", "TMUX", "/tmp/x,1,0" }, NOTICE_NONE, true },
        { { "TERM", "screen" }, NOTICE_NONE, true },
        { { "TERM", "linux" }, NOTICE_NONE, false },
        { { "TERM", "vt220" }, NOTICE_NONE, false },
        { { "TERM", "dumb" }, NOTICE_NONE, false },
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct terminal_kind kind;

        environment = cases[i].environment;
        kind = terminal_kind_of(find);
        if (kind.notice != cases[i].notice || kind.has_title != cases[i].has_title)
            fail_msg("%s: %d %d", environment[1], kind.notice, kind.has_title);
    }
}

static const struct {
    const char *bytes, *left;
    bool is_known, is_light, is_over;
} replies[] = {
    { "", "", false, false, false },
    { "\033]11;rgb:ffff/ffff/ffff\033\\\033[?62;1c", "", true, true, true },
    { "\033]11;rgb:1515/1818/1c1c\a\033[?6c", "", true, false, true },
    { "\033]11;rgb:f/f/f\a", "", true, true, false },
    { "\033[?62;22c", "", false, false, true },
    { "j\033]11;rgb:00/00/00\033\\k\033[?1;2cl", "jkl", true, false, true },
    { "\033]11;rgb:ffff/ff", "\033]11;rgb:ffff/ff", false, false, false },
    { "\033]11;rgb:zz/00/00\a", "", false, false, false },
    { "\033]11;rgb:ffff/ffff\a", "", false, false, false },
    { "\033]11;\a", "", false, false, false },
    { "\033]11;#ffffff\033\\\033[?6c", "", false, false, true },
    { "\033[A", "\033[A", false, false, false },
    { "\033[?", "\033[?", false, false, false },
};

static void test_replies(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(replies); i++) {
        char bytes[64];
        size_t length = strlen(replies[i].bytes);
        struct background_reply reply;

        memcpy(bytes, replies[i].bytes, length);
        reply = background_read(bytes, &length);
        bytes[length] = '\0';
        if (reply.is_known != replies[i].is_known || reply.is_over != replies[i].is_over ||
            (reply.is_known && reply.is_light != replies[i].is_light) ||
            strcmp(bytes, replies[i].left) != 0)
            fail_msg("reply %zu: %d %d %d '%s'", i, reply.is_known, reply.is_light, reply.is_over,
                     bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_notices),
        cmocka_unit_test(test_replies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* terminal_kind.c - see terminal_kind.h. */
#include "tui/terminal_kind.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

const char background_question[] = "\033]11;?\033\\\033[c";

static const char *value_of(const char *(*find)(const char *name), const char *name)
{
    const char *value = find(name);

    return value ? value : "";
}

/* Nothing set says nothing: shells that agents start often lack all of it. */
static bool has_utf8(const char *(*find)(const char *name))
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *value = value_of(find, names[i]);

        if (*value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return true;
}

/* "15;0" or "0;default;15": the last number is the background's. */
static bool is_light_by_number(const char *colorfgbg)
{
    const char *last = strrchr(colorfgbg, ';');
    long number = last ? strtol(last + 1, NULL, 10) : 0;

    return last && last[1] && (number == 7 || number == 15);
}

static bool begins_with_one_of(const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(text, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* Those whose names alone say that they have all colours; COLORTERM is often lost on the way. */
static bool is_true_by_name(const char *term)
{
    static const char *const names[] = { "xterm-kitty", "xterm-ghostty", "alacritty", "foot",
                                         "wezterm" };

    return strstr(term, "-direct") || begins_with_one_of(term, names, ARRAY_LEN(names));
}

/* A multiplexer takes the bell and keeps the rest to itself. */
static enum terminal_notice notice_of(const char *(*find)(const char *name), const char *term)
{
    static const char *const multiplexers[] = { "tmux", "screen" };
    static const char *const urxvt_like[] = { "rxvt", "foot" };

    if (*value_of(find, "TMUX") || begins_with_one_of(term, multiplexers, ARRAY_LEN(multiplexers)))
        return NOTICE_NONE;
    if (strcmp(term, "xterm-kitty") == 0)
        return NOTICE_OSC_99;
    return begins_with_one_of(term, urxvt_like, ARRAY_LEN(urxvt_like)) ? NOTICE_OSC_777
                                                                       : NOTICE_OSC_9;
}

/* Whoever says to be one of these may be no more than that; the VT102 was the first that could. */
static bool lacks_shifts(const char *term)
{
    static const char *const old[] = { "vt52", "vt100", "vt101" };

    for (size_t i = 0; i < ARRAY_LEN(old); i++) {
        size_t length = strlen(old[i]);

        if (strncmp(term, old[i], length) == 0 && (!term[length] || term[length] == '-'))
            return true;
    }
    return false;
}

struct terminal_kind terminal_kind_of(const char *(*find)(const char *name))
{
    const char *term = value_of(find, "TERM"), *depth = value_of(find, "COLORTERM");
    bool is_console = strcmp(term, "linux") == 0;
    struct terminal_kind kind = { .is_dumb = !*term || strcmp(term, "dumb") == 0 };

    kind.is_ascii = is_console || !has_utf8(find);
    kind.is_light = is_light_by_number(value_of(find, "COLORFGBG"));
    if (*value_of(find, "NO_COLOR") || kind.is_dumb || strncmp(term, "vt", 2) == 0)
        kind.colours = COLOURS_NONE;
    else if (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0 ||
             is_true_by_name(term))
        kind.colours = COLOURS_TRUE;
    else if (strstr(term, "256color"))
        kind.colours = COLOURS_256;
    else
        kind.colours = COLOURS_16;
    kind.has_title = !kind.is_dumb && !is_console && strncmp(term, "vt", 2) != 0;
    kind.notice = kind.has_title ? notice_of(find, term) : NOTICE_NONE;
    kind.lacks_shifts = lacks_shifts(term);
    kind.answers = kind.colours != COLOURS_NONE && !is_console && !*value_of(find, "COLORFGBG");
    return kind;
}

/* "rgb:ffff/ffff/ffff", one to four digits each; luminance as eyes weigh it, in per mille. */
static bool read_colour(const char *text, const char *end, bool *ret_is_light)
{
    static const int weights[] = { 299, 587, 114 };
    long sum = 0;

    if (end - text < 4 || memcmp(text, "rgb:", 4) != 0)
        return false;
    text += 4;
    for (size_t i = 0; i < ARRAY_LEN(weights); i++) {
        long value = 0, most = 0;
        const char *begin = text;

        for (; text < end && text - begin < 4 && strchr("0123456789abcdefABCDEF", *text) && *text;
             text++) {
            char digit[] = { *text, '\0' };

            value = value * 16 + strtol(digit, NULL, 16);
            most = most * 16 + 15;
        }
        if (most == 0 || (i < 2 && (text == end || *text++ != '/')))
            return false;
        sum += weights[i] * value / most;
    }
    *ret_is_light = sum > 500;
    return true;
}

/* The end of a string that a terminal sends, BEL or ESC \; NULL: it is not there yet. */
static char *find_end(char *at, const char *end, size_t *ret_length)
{
    for (; at < end; at++) {
        *ret_length = *at == '\a' ? 1 : 2;
        if (*at == '\a' || (*at == '\033' && at + 1 < end && at[1] == '\\'))
            return at;
    }
    return NULL;
}

static void take_out(char *from, char *to, char *end, size_t *length)
{
    memmove(from, to, (size_t)(end - to));
    *length -= (size_t)(to - from);
}

struct background_reply background_read(char *bytes, size_t *length)
{
    static const char prefix[] = "\033]11;", attributes[] = "\033[?";
    struct background_reply reply = { 0 };
    char *at = memmem(bytes, *length, prefix, sizeof prefix - 1);
    char *stop;
    size_t stop_length;

    if (at && (stop = find_end(at + sizeof prefix - 1, bytes + *length, &stop_length))) {
        reply.is_known = read_colour(at + sizeof prefix - 1, stop, &reply.is_light);
        take_out(at, stop + stop_length, bytes + *length, length);
    }
    at = memmem(bytes, *length, attributes, sizeof attributes - 1);
    for (stop = at; stop && stop < bytes + *length && *stop != 'c'; stop++)
        continue;
    if (stop && stop < bytes + *length) {
        reply.is_over = true;
        take_out(at, stop + 1, bytes + *length, length);
    }
    return reply;
}

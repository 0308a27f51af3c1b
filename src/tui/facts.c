#include "tui/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/visible_text.h"
#include "i18n/i18n.h"

static const int64_t MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400;

void facts_release(struct facts *facts)
{
    free(facts->title);
    free(facts->agent);
    free(facts->directory);
    free(facts->token);
    free(facts->via);
    free(facts->person);
    memset(facts, 0, sizeof *facts);
}

void facts_add_visible(struct text *out, const char *bytes)
{
    if (bytes)
        visible_text(bytes, strlen(bytes), VISIBLE_ONE_LINE, out);
}

char *facts_visible_flags(const char *bytes, bool has_lines, unsigned *flags)
{
    struct text out = { 0 };

    if (!bytes)
        return NULL;
    *flags |=
        visible_text(bytes, strlen(bytes), has_lines ? VISIBLE_LINES : VISIBLE_ONE_LINE, &out);
    return text_take(&out);
}

char *facts_visible(const char *bytes, bool has_lines)
{
    unsigned flags = 0;

    return facts_visible_flags(bytes, has_lines, &flags);
}

static void put(char **slot, const char *bytes)
{
    char *visible = facts_visible(bytes ? bytes : "", false);

    free(*slot);
    *slot = visible;
}

/* So many digits, then the sign; moves on. -1: they are not there. */
static int take_digits(const char **at, int digits, char sign)
{
    int number = 0;

    for (; digits > 0; digits--, ++*at) {
        if (**at < '0' || **at > '9')
            return -1;
        number = number * 10 + (**at - '0');
    }
    if (**at != sign)
        return -1;
    ++*at;
    return number;
}

/* "2026-07-28T14:02:23.000Z" */
int64_t facts_time(const struct json *value)
{
    static const struct {
        int digits;
        char sign;
    } parts[] = {
        { 4, '-' }, { 2, '-' }, { 2, 'T' }, { 2, ':' }, { 2, ':' }, { 2, '.' }, { 3, 'Z' }
    };
    const char *at = json_text(value);
    int numbers[ARRAY_LEN(parts)];
    struct tm time = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        numbers[i] = at ? take_digits(&at, parts[i].digits, parts[i].sign) : -1;
        if (numbers[i] < 0)
            return 0;
    }
    time.tm_year = numbers[0] - 1900;
    time.tm_mon = numbers[1] - 1;
    time.tm_mday = numbers[2];
    time.tm_hour = numbers[3];
    time.tm_min = numbers[4];
    time.tm_sec = numbers[5];
    return (int64_t)timegm(&time) * 1000 + numbers[6];
}

char *facts_directory(const char *directory, const char *home)
{
    size_t length = home ? strlen(home) : 0;
    struct text out = { 0 };

    if (directory && length > 1 && strncmp(directory, home, length) == 0 &&
        (directory[length] == '/' || directory[length] == '\0')) {
        text_add_char(&out, '~');
        directory += length;
    }
    facts_add_visible(&out, directory);
    return text_take(&out);
}

void facts_read(struct facts *facts, const struct json *ask, const char *home,
                struct screen_time now)
{
    const struct json *origin = json_member(ask, "origin"), *by = json_member(ask, "answered_by");
    int64_t left_s = json_member_span(ask, "remaining_seconds", -1);
    const char *id = json_member_text(ask, "session_id");

    snprintf(facts->id, sizeof facts->id, "%s", id ? id : "");
    put(&facts->title, json_member_text(ask, "title"));
    put(&facts->agent, json_member_text(ask, "agent"));
    put(&facts->token, json_member_text(origin, "token"));
    put(&facts->via, json_member_text(by, "via"));
    put(&facts->person, json_member_text(by, "person"));
    free(facts->directory);
    facts->directory = facts_directory(json_member_text(origin, "directory"), home);
    facts->pid = json_member_integer(origin, "pid", 0);
    facts->uid = json_member_integer(origin, "uid", -1);
    facts->state = state_find(json_member_text(ask, "status"));
    facts->interface = interface_find(json_member_text(ask, "interface"));
    facts->version = json_member_integer(ask, "version", 0);
    facts->created_utc_ms = facts_time(json_member(ask, "created_at"));
    facts->decided_utc_ms = facts_time(json_member(ask, "decided_at"));
    facts->is_asked_back = json_is_true(json_member(ask, "asked_back"));
    facts->is_detached = json_is_true(json_member(ask, "detached"));
    facts->is_destructive = json_is_true(json_member(ask, "destructive"));
    facts->snooze_utc_ms = facts_time(json_member(ask, "later_until"));
    facts->quiet_until_mono_ms = now.mono_ms + json_member_span(ask, "quiet_seconds", 0) * 1000;
    facts->deadline_mono_ms = left_s < 0 ? -1 : now.mono_ms + left_s * 1000;
    facts->total_ms = left_s < 0 ? 0 : left_s * 1000 + now.utc_ms - facts->created_utc_ms;
}

char *facts_answer(const struct json *ask)
{
    const struct json *yes = json_member(ask, "confirmed");
    const char *answer = json_member_text(ask, "summary");

    if (json_kind(yes) == KIND_BOOL)
        answer = i18n_text(json_is_true(yes) ? TEXT_TUI_YES : TEXT_TUI_NO);
    return facts_visible(answer ? answer : "", false);
}

const char *facts_interface(const struct facts *facts)
{
    static const enum text_id words[INTERFACE_COUNT] = { [INTERFACE_NONE] = TEXT_TUI_AUTO,
                                                         [INTERFACE_AUTO] = TEXT_TUI_AUTO,
                                                         [INTERFACE_WEB] = TEXT_CHANNEL_WEB,
                                                         [INTERFACE_TERMINAL] =
                                                             TEXT_CHANNEL_TERMINAL,
                                                         [INTERFACE_CLIENT] = TEXT_CHANNEL_CLIENT };

    return i18n_text(words[facts->interface]);
}

const struct facts_way *facts_way(const struct facts *facts)
{
    static const struct facts_way ways[] = {
        { "terminal", TEXT_CHANNEL_TERMINAL, TEXT_TUI_IN_TERMINAL },
        { "web", TEXT_CHANNEL_WEB, TEXT_TUI_IN_PORTAL },
        { "client", TEXT_CHANNEL_CLIENT, TEXT_TUI_IN_CLIENT },
        { "api", TEXT_CHANNEL_API, TEXT_TUI_IN_API },
        { "rule", TEXT_CHANNEL_RULE, TEXT_TUI_IN_CLI },
        { "cli", TEXT_CHANNEL_CLI, TEXT_TUI_IN_CLI }, /* and whatever else there will be */
    };
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(ways) && strcmp(ways[i].via, facts->via) != 0)
        i++;
    return &ways[i];
}

void facts_add_who(struct text *out, const struct facts *facts, int64_t uid)
{
    if (*facts->token)
        i18n_format(out, TEXT_TUI_BY_TOKEN, "token", facts->token, NULL);
    else if (facts->pid > 0)
        i18n_format(out, facts->uid == uid ? TEXT_TUI_BY_YOU : TEXT_TUI_BY_PID, "pid",
                    TEXT_NUMBER(facts->pid), NULL);
    else
        text_add_text(out, i18n_text(TEXT_TUI_BY_NOBODY));
}

int64_t facts_left_ms(const struct facts *facts, struct screen_time now)
{
    if (facts->deadline_mono_ms < 0)
        return -1;
    return facts->deadline_mono_ms > now.mono_ms ? facts->deadline_mono_ms - now.mono_ms : 0;
}

void facts_add_clock(struct text *out, int64_t ms)
{
    int64_t s = ms / 1000;

    if (s >= 2 * DAY_S)
        facts_add_duration(out, s);
    else if (s >= HOUR_S)
        text_add_format(out, "%d:%02d:%02d", (int)(s / HOUR_S), (int)(s / MINUTE_S % 60),
                        (int)(s % 60));
    else
        text_add_format(out, "%d:%02d", (int)(s / MINUTE_S), (int)(s % 60));
}

void facts_add_duration(struct text *out, int64_t s)
{
    enum text_id unit = TEXT_DURATION_SECONDS;

    if (s >= 2 * DAY_S || (s >= DAY_S && s % DAY_S == 0)) {
        unit = TEXT_DURATION_DAYS;
        s = (s + DAY_S / 2) / DAY_S;
    } else if (s >= 2 * HOUR_S || (s >= HOUR_S && s % HOUR_S == 0)) {
        unit = TEXT_DURATION_HOURS;
        s = (s + HOUR_S / 2) / HOUR_S;
    } else if (s >= 2 * MINUTE_S || (s >= MINUTE_S && s % MINUTE_S == 0)) {
        unit = TEXT_DURATION_MINUTES;
        s = (s + MINUTE_S / 2) / MINUTE_S;
    }
    i18n_format(out, unit, "count", TEXT_NUMBER(s), NULL);
}

void facts_add_since(struct text *out, int64_t from_utc_ms, int64_t to_utc_ms)
{
    facts_add_duration(out, to_utc_ms > from_utc_ms ? (to_utc_ms - from_utc_ms) / 1000 : 0);
}

void facts_add_answered(struct text *out, int64_t answered_utc_ms, int64_t now_utc_ms)
{
    struct text time = { 0 };

    if (answered_utc_ms == 0)
        return;
    facts_add_since(&time, answered_utc_ms, now_utc_ms);
    i18n_format(out, TEXT_ANSWERED_BEFORE, "time", text_string(&time), NULL);
    text_release(&time);
}

void facts_add_when(struct text *out, int64_t utc_ms, int64_t now_utc_ms)
{
    size_t before = out->used;

    i18n_add_when(out, utc_ms, now_utc_ms);
    if (out->used - before == strlen("14:03"))
        text_add_format(out, ":%02d", (int)(utc_ms / 1000 % 60));
}

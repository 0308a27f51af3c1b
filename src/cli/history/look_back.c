/* look_back.c - see look_back.h. */
#include "cli/history/look_back.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/say.h"

enum { MOST_AGO = 100000 };

/* "7d", "12h", "30m" */
static bool read_ago(const char *text, int64_t *ret_ms)
{
    static const struct {
        char unit;
        int64_t ms;
    } units[] = { { 'd', 86400000 }, { 'h', 3600000 }, { 'm', 60000 } };
    size_t digits = strspn(text, "0123456789");
    char number[16];
    int64_t count;

    if (digits == 0 || digits >= sizeof number || strlen(text) != digits + 1)
        return false;
    memcpy(number, text, digits);
    number[digits] = '\0';
    if (!text_parse_integer(number, &count) || count > MOST_AGO)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (units[i].unit == text[digits]) {
            *ret_ms = (int64_t)time(NULL) * 1000 - count * units[i].ms;
            return *ret_ms > 0;
        }
    }
    return false;
}

static bool read_date(const char *text, int64_t *ret_ms)
{
    static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%MZ",
                                         "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ" };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm parts = { 0 };
        const char *end = strptime(text, forms[i], &parts);

        if (end && *end == '\0') {
            *ret_ms = (int64_t)timegm(&parts) * 1000;
            return *ret_ms > 0;
        }
    }
    return false;
}

static bool read_time(const struct arguments *arguments, const char *name, int64_t *ret_ms)
{
    const char *text = arguments_value(arguments, name);
    char shown[64];

    if (!text || read_ago(text, ret_ms) || read_date(text, ret_ms))
        return true;
    snprintf(shown, sizeof shown, "--%s", name);
    say_problem(TEXT_CLI_BAD_TIME, "name", shown);
    return false;
}

bool look_back_init(struct look_back *look, const struct arguments *arguments, bool is_whole,
                    char *take_search)
{
    *look = (struct look_back){ .arguments = arguments, .is_whole = is_whole };
    look->search = take_search;
    return read_time(arguments, "since", &look->since_ms) &&
           read_time(arguments, "before", &look->until_ms);
}

void look_back_release(struct look_back *look)
{
    free(look->search);
    *look = (struct look_back){ 0 };
}

bool look_back_has_filters(const struct look_back *look)
{
    static const char *const names[] = { "agent", "status", "via", "since", "before" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (arguments_value(look->arguments, names[i]))
            return true;
    }
    return look->search != NULL;
}

static void write_params(const struct look_back *look, int64_t limit, struct text *out)
{
    static const char *const named[][2] = { { "agent", "agent" },
                                            { "status", "which" },
                                            { "via", "via" } };
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        json_write_text_if(&writer, named[i][1], arguments_value(look->arguments, named[i][0]));
    json_write_text_if(&writer, "search", look->search);
    if (look->since_ms)
        json_write_integer(&writer, "since_ms", look->since_ms);
    if (look->until_ms)
        json_write_integer(&writer, "until_ms", look->until_ms);
    json_write_bool_if(&writer, "whole", look->is_whole);
    json_write_text_if(&writer, "before", look->next[0] ? look->next : NULL);
    json_write_integer(&writer, "limit", limit);
    json_write_end_object(&writer);
}

bool look_back_page(struct look_back *look, struct link *link, int64_t limit,
                    struct wire_message *ret_reply)
{
    struct text params = { 0 };
    const char *next;
    bool ok;

    write_params(look, limit, &params);
    ok = call_hub(look->arguments, link, "ask/history", text_string(&params), ret_reply);
    text_release(&params);
    next = ok ? json_member_text(ret_reply->result, "next") : NULL;
    look->is_over = !next || strlen(next) >= sizeof look->next;
    if (!look->is_over)
        memcpy(look->next, next, strlen(next) + 1);
    return ok;
}

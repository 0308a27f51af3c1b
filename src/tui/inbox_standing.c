/* inbox_standing.c - see inbox_standing.h. */
#include "tui/inbox_standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "i18n/i18n.h"
#include "tui/facts.h"
#include "tui/keyboard.h"

enum { DAY_S = 86400 };
const int64_t standing_terms_days[STANDING_TERMS] = { 1, 7, 30, 90, 365 };

static void copy_id(char out[32], const char *id)
{
    snprintf(out, 32, "%s", id ? id : "");
}

static void release_row(struct standing_row *row)
{
    free(row->title);
    free(row->answer);
    free(row->agent);
    free(row->directory);
    free(row->person);
    *row = (struct standing_row){ 0 };
}

static void release_case(struct standing_case *look)
{
    release_row(&look->facts);
    for (size_t i = 0; i < look->past_count; i++)
        free(look->past[i].answer);
    look->past_count = 0;
}

static void forget(struct inbox_standing *standing, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        release_row(&standing->rows[i]);
}

void inbox_standing_release(struct inbox_standing *standing)
{
    forget(standing, 0, standing->count);
    release_case(&standing->look);
}

void inbox_standing_consider(struct inbox_standing *standing, const char *from, bool any_prompt,
                             bool is_from_history)
{
    release_case(&standing->look);
    standing->look = (struct standing_case){
        .any_prompt = any_prompt,
        .is_waiting = true,
        .is_from_history = is_from_history,
    };
    copy_id(standing->look.from, from);
    standing->is_case = true;
}

static char *answer_of(const struct json *facts)
{
    const struct json *yes = json_member(facts, "confirmed");
    const char *answer = json_member_text(facts, "summary");

    if (json_kind(yes) == KIND_BOOL)
        answer = i18n_text(json_is_yes(yes) ? TEXT_TUI_YES : TEXT_TUI_NO);
    return facts_visible(answer ? answer : "", false);
}

static void read_facts(struct standing_row *row, const struct json *facts, const char *home)
{
    const char *title = json_member_text(facts, "title"), *agent = json_member_text(facts, "agent");

    row->title = facts_visible(title ? title : "", false);
    row->agent = facts_visible(agent ? agent : "?", false);
    row->directory = facts_directory(json_member_text(facts, "directory"), home);
    row->answer = answer_of(facts);
    row->any_prompt = json_is_yes(json_member(facts, "any_prompt"));
    copy_id(row->from, json_member_text(facts, "from"));
}

static void read_rule(struct standing_row *row, const struct json *rule, const char *home)
{
    const char *person = json_member_text(json_member(rule, "made_by"), "person");

    read_facts(row, json_member(rule, "rule"), home);
    copy_id(row->id, json_member_text(rule, "id"));
    row->person = facts_visible(person ? person : "?", false);
    row->until_utc_ms = facts_time(json_member(rule, "expires_at"));
    row->is_over = json_is_yes(json_member(rule, "expired"));
}

/* The row under the cursor stays it, wherever it is now. */
static void keep_cursor(struct inbox_standing *standing, const char *id, const char *from)
{
    for (size_t i = 0; i < standing->count; i++) {
        const struct standing_row *row = &standing->rows[i];

        if (strcmp(row->id, id) == 0 && strcmp(row->from, from) == 0)
            standing->cursor = i;
    }
    if (standing->cursor >= standing->count)
        standing->cursor = standing->count > 0 ? standing->count - 1 : 0;
}

static bool has_rule(const struct inbox_standing *standing, const char *id)
{
    for (size_t i = 0; i < standing->rule_count; i++) {
        if (strcmp(standing->rows[i].id, id) == 0)
            return true;
    }
    return false;
}

/* What was proposed stays behind what stands, whichever comes first. */
static void take_rules(struct inbox_standing *standing, const struct json *rules, const char *home)
{
    size_t proposed = standing->count - standing->rule_count, wanted = json_length(rules);

    if (wanted > STANDING_ROWS - proposed)
        wanted = STANDING_ROWS - proposed;
    forget(standing, 0, standing->rule_count);
    memmove(standing->rows + wanted, standing->rows + standing->rule_count,
            proposed * sizeof *standing->rows);
    memset(standing->rows, 0, wanted * sizeof *standing->rows);
    for (size_t i = 0; i < wanted; i++)
        read_rule(&standing->rows[i], json_item(rules, i), home);
    standing->rule_count = wanted;
    standing->count = wanted + proposed;
    standing->has_rules = true;
    if (standing->is_revoking && !has_rule(standing, standing->revoking))
        standing->is_revoking = false; /* somebody else did */
}

static void take_proposed(struct inbox_standing *standing, const struct json *proposed,
                          const char *home)
{
    forget(standing, standing->rule_count, standing->count);
    standing->count = standing->rule_count;
    for (size_t i = 0; i < json_length(proposed) && standing->count < STANDING_ROWS; i++) {
        const struct json *one = json_item(proposed, i);
        struct standing_row *row = &standing->rows[standing->count++];

        *row = (struct standing_row){ .count = json_member_integer(one, "count", 0) };
        read_facts(row, json_member(one, "rule"), home);
    }
    standing->has_proposed = true;
}

static void take_case(struct standing_case *look, const struct json *json, const char *home)
{
    const struct json *asks = json_member(json, "asks");
    const char *from = json_member_text(json, "from"), *tool = json_member_text(json, "tool");

    if (!from || strncmp(from, look->from, strlen(look->from)) != 0 ||
        json_is_yes(json_member(json, "any_prompt")) != look->any_prompt)
        return; /* the person looks at another one by now */
    release_case(look);
    read_facts(&look->facts, json, home);
    look->may_any_prompt = tool && strcmp(tool, "provide_choice") == 0;
    look->same = json_member_integer(json, "same", 0);
    look->other = json_member_integer(json, "other", 0);
    for (size_t i = 0; i < json_length(asks) && i < STANDING_CASES; i++) {
        const struct json *ask = json_item(asks, i);

        look->past[look->past_count++] = (struct standing_past){
            .answer = answer_of(ask),
            .utc_ms = facts_time(json_member(ask, "created_at")),
            .is_same = json_is_yes(json_member(ask, "same")),
        };
    }
    look->is_waiting = look->is_refused = false;
}

void inbox_standing_take(struct inbox_standing *standing, enum screen_news news,
                         const struct json *json, const char *home)
{
    char id[32] = "", from[32] = "";

    if (standing->cursor < standing->count) {
        memcpy(id, standing->rows[standing->cursor].id, sizeof id);
        memcpy(from, standing->rows[standing->cursor].from, sizeof from);
    }
    switch (news) {
    case NEWS_RULES:
        take_rules(standing, json_member(json, "rules"), home);
        keep_cursor(standing, id, from);
        break;
    case NEWS_PROPOSED:
        take_proposed(standing, json_member(json, "suggestions"), home);
        keep_cursor(standing, id, from);
        break;
    case NEWS_CASE:
        if (standing->is_case)
            take_case(&standing->look, json, home);
        break;
    case NEWS_STANDS:
        standing->is_case = false;
        break;
    case NEWS_REFUSED: /* what it says is told; there may be nothing more to do here */
        standing->look.is_refused = standing->look.is_waiting;
        standing->look.is_waiting = false;
        break;
    default:
        break;
    }
}

const char *inbox_standing_ask(const struct inbox_standing *standing)
{
    if (standing->is_case)
        return standing->look.from;
    return standing->cursor < standing->count ? standing->rows[standing->cursor].from : NULL;
}

void inbox_standing_write_preview(const struct inbox_standing *standing, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_bool_if(&writer, "any_prompt", standing->look.any_prompt);
    json_write_end_object(&writer);
}

static void write_add(const struct standing_case *look, int64_t days, struct text *out)
{
    struct json_writer writer = json_writer_to(out);

    json_write_object(&writer, NULL);
    json_write_bool_if(&writer, "any_prompt", look->any_prompt);
    json_write_integer(&writer, "seconds", days * DAY_S);
    json_write_end_object(&writer);
}

static enum standing_wish key_in_case(struct inbox_standing *standing, const struct key *key,
                                      char letter, struct text *ret_params)
{
    struct standing_case *look = &standing->look;

    if (key->code == KEY_ESCAPE || letter == 'q' || look->is_refused) {
        standing->is_case = false;
        return look->is_from_history ? STANDING_TO_HISTORY : STANDING_NOTHING;
    }
    if (look->is_waiting)
        return STANDING_NOTHING; /* not before it was seen what it means */
    if (letter == 'p' && look->may_any_prompt) {
        look->any_prompt = !look->any_prompt;
        look->is_waiting = true;
        return STANDING_PREVIEW;
    }
    if (letter >= '1' && letter < '1' + STANDING_TERMS) {
        write_add(look, standing_terms_days[letter - '1'], ret_params);
        return STANDING_ADD;
    }
    return STANDING_NOTHING;
}

static enum standing_wish key_in_revoking(struct inbox_standing *standing, char letter,
                                          struct text *ret_params)
{
    struct json_writer writer = json_writer_to(ret_params);

    standing->is_revoking = false;
    if (letter != 'y')
        return STANDING_NOTHING;
    json_write_object(&writer, NULL);
    json_write_text(&writer, "id", standing->revoking);
    json_write_end_object(&writer);
    return STANDING_REVOKE;
}

static void move(struct inbox_standing *standing, int by)
{
    if (by < 0)
        standing->cursor -= standing->cursor > 0;
    else
        standing->cursor += standing->cursor + 1 < standing->count;
}

static enum standing_wish key_on_row(struct inbox_standing *standing, const struct key *key,
                                     char letter)
{
    const struct standing_row *row = &standing->rows[standing->cursor];

    if (standing->cursor >= standing->count)
        return STANDING_NOTHING;
    if (row->id[0] && (letter == 'd' || key->code == KEY_DELETE)) {
        standing->is_revoking = true;
        memcpy(standing->revoking, row->id, sizeof standing->revoking);
    } else if (row->id[0] && key->code == KEY_ENTER) {
        return STANDING_LOOK;
    } else if (!row->id[0] && (key->code == KEY_ENTER || letter == 'a')) {
        inbox_standing_consider(standing, row->from, row->any_prompt, false);
        return STANDING_PREVIEW;
    }
    return STANDING_NOTHING;
}

enum standing_wish inbox_standing_key(struct inbox_standing *standing, const struct key *key,
                                      struct text *ret_params)
{
    char letter = key->code == KEY_TEXT && key->length == 1 ? key->text[0] : '\0';

    if (standing->is_case)
        return key_in_case(standing, key, letter, ret_params);
    if (standing->is_revoking)
        return key_in_revoking(standing, letter, ret_params);
    if (key->code == KEY_DOWN || letter == 'j')
        move(standing, 1);
    else if (key->code == KEY_UP || letter == 'k')
        move(standing, -1);
    else if (key->code == KEY_ESCAPE || letter == 'q')
        return STANDING_CLOSE;
    else
        return key_on_row(standing, key, letter);
    return STANDING_NOTHING;
}

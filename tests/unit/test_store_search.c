/*
 * test_store_search.c - what is found is the same whether an index knows it or not, and what is
 * gone is found no more and lies in the file no more.
 * Proves: R9.1 R9.2
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "store_fixture.h"

#include "base/text.h"
#include "core/search_text.h"

enum { MANY = 300 };
static const int64_t NOW = 1700000200000;

struct finds {
    int64_t numbers[2 * MANY];
    char ids[2 * MANY][ASK_ID_BYTES];
    size_t count;
    int64_t looked_to;
    int ends;
};

static void on_found(void *context, const struct store_row *row, int64_t looked_to,
                     const struct error *err)
{
    struct finds *found = context;

    assert_null(err);
    found->looked_to = looked_to;
    found->ends += row == NULL;
    if (!row)
        return;
    assert_true(found->count < 2 * MANY);
    found->numbers[found->count] = row->number;
    memcpy(found->ids[found->count++], row->ask.id, ASK_ID_BYTES);
}

static struct finds look(struct place *place, struct store_history_query query, const char *words)
{
    struct search_terms terms = { 0 };
    struct finds found = { .count = 0 };
    struct error err;

    assert_true(search_terms_read(words, &terms, &err));
    query.search = terms.count ? &terms : NULL;
    place->store->ops->history(place->store, &query, on_found, &found);
    wait_until(place, &found.ends);
    search_terms_release(&terms);
    for (size_t i = 1; i < found.count; i++)
        assert_true(found.numbers[i] < found.numbers[i - 1]);
    return found;
}

static struct finds find(struct place *place, const char *words, const char *agent, size_t limit,
                         int64_t before)
{
    return look(place,
                (struct store_history_query){
                    .list = { .limit = limit, .agent = agent, .before_number = before } },
                words);
}

static int64_t take_up(struct place *place, int64_t now_ms, size_t batch)
{
    const struct store_index index = { now_ms, batch, 0 };
    struct seen seen = { 0 };

    store_write_index(place->store, &index, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.outcome, STORE_DONE);
    return seen.reply.seq;
}

static void take_up_all(struct place *place, int64_t now_ms)
{
    while (take_up(place, now_ms, 100) > 0)
        continue;
}

static const char *word_of(int number)
{
    static const char *const words[] = { "alpha",  "Bravo", "\xe9\x83\xa8\xe7\xbd\xb2",
                                         "del_ta", "ech%o", "\"fox\"",
                                         "it's",   "b\\\\s" };

    return words[number % (int)ARRAY_LEN(words)];
}

static void add_ask(struct place *place, int number, const char *title, const char *agent)
{
    struct ask ask = make_ask(number);
    struct text form = { 0 }, origin = { 0 };

    text_add_format(&form, "{\"title\":\"%s\",\"fields\":[]}", title);
    text_add_format(&origin, "{\"name\":\"%s\"}", agent);
    ask.form_json = text_string(&form);
    ask.origin_json = text_string(&origin);
    create_done(place, &ask);
    text_release(&form);
    text_release(&origin);
}

static void answer_ask(struct place *place, int number, const char *note)
{
    struct ask ask = make_ask(number);
    struct text answer = { 0 };
    struct store_change how;
    char key[32];

    snprintf(key, sizeof key, "key-%d", number);
    how = answer_of(ask.id, key);
    text_add_format(&answer, "{\"global_annotation\":\"%s\"}", note);
    how.answer_json = text_string(&answer);
    how.actor_json = number % 10 ? "{\"via\":\"web\"}" : "{\"via\":\"tui\"}";
    change_done(place, &how);
    text_release(&answer);
}

static void add_many(struct place *place, int first, int count)
{
    char title[96];

    for (int i = first; i < first + count; i++) {
        const char *word = word_of(i);

        snprintf(title, sizeof title, "number %d is %s%s", i, *word == '"' ? "\\\"fox\\" : word,
                 *word == '"' ? "\"" : "");
        add_ask(place, i, title, i % 50 == 0 ? "rare" : "common");
        if (i % 3)
            answer_ask(place, i, i % 10 ? "noted" : "\xe7\x8e\xaf\xe5\xa2\x83");
    }
}

static const struct {
    const char *words, *agent;
} searches[] = {
    { "alpha", NULL },
    { "BRAVO", NULL },
    { "\xe9\x83\xa8\xe7\xbd\xb2", NULL },        /* two characters */
    { "\xe7\x8e\xaf", NULL },                    /* one */
    { "is \xe9\x83\xa8\xe7\xbd\xb2", NULL },     /* all short */
    { "number \xe9\x83\xa8", NULL },             /* one long, one short */
    { "\"is \xe9\x83\xa8\xe7\xbd\xb2\"", NULL }, /* long together */
    { "del_ta", NULL },
    { "ech%o", NULL },
    { "delxta", NULL },
    { "fox", NULL },
    { "it's", NULL },
    { "noted alpha", NULL },
    { "7", NULL },
    { "number 77 is", NULL },
    { "alpha", "rare" },
    { "", "rare" },
    { "", "nobody" },
    { "nowhere", NULL },
    { "number", NULL },
    { "e%o", NULL },
    { "b\\s", NULL },
    { "s\\\\", NULL },
    { "{a,b}", NULL },
};

static void search_all(struct place *place, struct finds out[ARRAY_LEN(searches)])
{
    for (size_t i = 0; i < ARRAY_LEN(searches); i++) {
        out[i] = find(place, searches[i].words, searches[i].agent, 2 * MANY, 0);
        assert_int_equal(out[i].looked_to, 0);
    }
}

static void assert_same_found(const struct finds *a, const struct finds *b)
{
    for (size_t i = 0; i < ARRAY_LEN(searches); i++) {
        if (a[i].count != b[i].count ||
            memcmp(a[i].numbers, b[i].numbers, a[i].count * sizeof *a[i].numbers) != 0)
            fail_msg("%s: %zu, %zu", searches[i].words, a[i].count, b[i].count);
    }
}

static void an_index_changes_nothing_but_speed(void **state)
{
    struct place *place = *state;
    struct finds *plain = mem_new(ARRAY_LEN(searches) * sizeof *plain);
    struct finds *half = mem_new(ARRAY_LEN(searches) * sizeof *half);
    int64_t left;

    add_many(place, 1, MANY);
    search_all(place, plain);
    assert_int_equal(plain[0].count, MANY / 8);
    assert_int_equal(plain[7].count, (MANY + 5) / 8);
    assert_int_equal(plain[9].count, 0);
    assert_int_equal(plain[16].count, MANY / 50);
    assert_int_equal(plain[17].count, 0);
    assert_int_equal(plain[19].count, MANY);
    assert_int_equal(plain[20].count, 0);
    assert_int_equal(plain[21].count, (MANY + 1) / 8);
    assert_true(plain[3].count > 0 && plain[4].count > 0 && plain[6].count > 0);
    assert_in_range(take_up(place, NOW, 100), 1, 100);
    search_all(place, half);
    assert_same_found(plain, half);
    take_up_all(place, NOW); /* the open ones are left */
    left = sql_number(place, "SELECT count(*) FROM unindexed");
    assert_int_equal(left, MANY / 3);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), MANY - left);
    search_all(place, half);
    assert_same_found(plain, half);
    reopen(place);
    search_all(place, half);
    assert_same_found(plain, half);
    assert_int_equal(take_up(place, NOW, 100), 0);
    free(plain);
    free(half);
}

/* Pages of any size are what one of all is. */
static void pages_go_on(void **state)
{
    static const size_t limits[] = { 1, 7, 64, 65, 150 };
    struct place *place = *state;

    add_many(place, 1, MANY);
    take_up(place, NOW, 100);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct finds all = find(place, "noted", NULL, 2 * MANY, 0), page;
        int64_t before = 0;
        size_t count = 0;

        do {
            page = find(place, "noted", NULL, limits[i], before);
            assert_true(page.count <= limits[i]);
            assert_memory_equal(all.numbers + count, page.numbers,
                                page.count * sizeof *page.numbers);
            count += page.count;
            before = page.looked_to;
        } while (before);
        assert_int_equal(count, all.count);
    }
}

static void filters_hold(void **state)
{
    static const int64_t first = 1700000000000;
    static const struct {
        struct store_history_query query;
        size_t count;
    } cases[] = {
        { { .list.limit = 600 }, 300 },
        { { .list.limit = 600, .list.which = STORE_LIST_OPEN }, 100 },
        { { .list.limit = 600, .list.which = STORE_LIST_ENDED }, 200 },
        { { .list.limit = 600, .list.states = 1U << STATE_SUBMITTED }, 200 },
        { { .list.limit = 600, .list.states = 1U << STATE_DECLINED }, 0 },
        { { .list.limit = 600, .via = "web" }, 180 },
        { { .list.limit = 600, .via = "tui" }, 20 },
        { { .list.limit = 600, .via = "" }, 0 },
        { { .list.limit = 600, .via = "tui", .list.agent = "rare" }, 4 },
        { { .list.limit = 600, .since_ms = first + 151 }, 150 },
        { { .list.limit = 600, .until_ms = first + 151 }, 150 },
        { { .list.limit = 600, .since_ms = first + 51, .until_ms = first + 151 }, 100 },
        { { .list.limit = 600, .list.before_ms = first + 151 }, 150 },
        { { .list.limit = 600, .list.before_ms = first + 151, .list.before_number = 335 }, 200 },
        { { .list.limit = 600, .list.before_ms = first + 151, .until_ms = first + 51 }, 50 },
    };
    struct place *place = *state;

    add_many(place, 1, MANY); /* the 201st has the number 335 */
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct finds found = look(place, cases[i].query, "");

        if (found.count != cases[i].count || found.looked_to != 0)
            fail_msg("case %zu: %zu, %d", i, found.count, (int)found.looked_to);
    }
}

static void what_may_change_is_looked_at_itself(void **state)
{
    struct place *place = *state;
    struct ask ask = make_ask(1);
    struct store_change undo = store_change_of(ask.id, EVENT_UNDONE);

    add_ask(place, 1, "early bird", "bot");
    add_ask(place, 2, "second", "bot");
    take_up_all(place, NOW);
    assert_int_equal(find(place, "early", NULL, 10, 0).count, 1);
    answer_ask(place, 1, "worm");
    assert_int_equal(find(place, "worm bird", NULL, 10, 0).count, 1);
    take_up_all(place, 1); /* within its undo window */
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), 0);
    take_up_all(place, NOW);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), 1);
    assert_int_equal(find(place, "worm bird", NULL, 10, 0).count, 1);
    undo.from_states = 1U << STATE_SUBMITTED; /* however late that is */
    undo.to_state = STATE_PENDING;
    undo.removes_answer = true;
    change_done(place, &undo);
    assert_int_equal(find(place, "worm", NULL, 10, 0).count, 0);
    assert_int_equal(find(place, "early", NULL, 10, 0).count, 1);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM unindexed"), 2);
}

/* Inserts that many asks in this state with one statement; every 10,000th has a needle. */
static void fill(struct place *place, int count, int state)
{
    const bool is_file = !chosen_is_postgres();
    char *events =
        mem_format("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                   " INSERT INTO events (seq, ask, kind, earlier_seq, prev_hash, form%s)"
                   " SELECT i, 'x' || i, 1, 0, %s, '{\"title\":\"' ||"
                   " CASE WHEN i %% 10000 = 7 THEN 'needle' ELSE 'hay' END || '\"}'%s FROM n",
                   count, is_file ? "" : ", hub", chosen_zeros(), is_file ? "" : ", 0");
    char *asks = mem_format(
        "INSERT INTO asks SELECT seq, %s('aaaaaaaaaaaaaaaaaaaaaaaaaa' || seq, %s26), 'owner', 'p',"
        " %s, %d, 0, 0, 1, 1, seq, 0, 0, 0, 0, 0, 0, %d, seq, 0, 0, 'provide_choice', 'hay',"
        " '{\"name\":\"bot\"}', NULL, NULL%s FROM events",
        is_file ? "substr" : "right", is_file ? "-" : "", chosen_zeros(), state,
        state == STATE_PENDING ? 0 : 1, is_file ? "" : ", 'bot'");

    sql(place, events);
    sql(place, asks);
    free(events);
    free(asks);
    reopen(place);
}

static void looking_ends_and_goes_on(void **state)
{
    struct place *place = *state;
    struct finds page, all = { .count = 0 };
    int64_t before = 0;
    int pages = 0;

    fill(place, 20000, STATE_TIMEOUT);
    do {
        page = find(place, "needle", NULL, 10, before);
        assert_true(page.looked_to == 0 || page.looked_to < before || before == 0);
        for (size_t i = 0; i < page.count; i++)
            all.numbers[all.count++] = page.numbers[i];
        before = page.looked_to;
        pages++;
    } while (before);
    assert_true(pages > 3); /* nothing is indexed: as many looks as are good for others */
    assert_int_equal(all.count, 2);
    assert_int_equal(all.numbers[0], 10007);
    assert_int_equal(all.numbers[1], 7);
    take_up_all(place, NOW);
    page = find(place, "needle", NULL, 10, 0);
    assert_int_equal(page.looked_to, 0); /* indexed, so found without a scan */
    assert_int_equal(page.count, 2);
}

/* There may be thousands whose answer can still change: they are looked at in parts. */
static void many_that_were_left_are_taken_up(void **state)
{
    struct place *place = *state;
    int rounds = 0;

    fill(place, 1700, STATE_PENDING);
    take_up_all(place, NOW);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM unindexed"), 1700);
    sql(place, "UPDATE asks SET state = 7, ended_ms = 1 WHERE number % 3 = 0 OR number > 1650");
    while (take_up(place, NOW, 100) > 0)
        rounds++;
    assert_in_range(rounds, 4, 40);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"),
                     sql_number(place, "SELECT count(*) FROM asks WHERE state = 7"));
    assert_int_equal(sql_number(place, "SELECT count(*) FROM unindexed"),
                     sql_number(place, "SELECT count(*) FROM asks WHERE state = 2"));
    assert_in_range(take_up(place, NOW, 100), 0, 1); /* at most one look over the rest … */
    while (take_up(place, NOW, 100) > 0)
        assert_true(++rounds < 100); /* … and no more */
}

static bool file_holds(struct place *place, const char *bytes)
{
    FILE *file = fopen(place->path, "rb");
    struct text whole = { 0 };
    char part[4096];
    size_t got;
    bool is_there;

    assert_non_null(file);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_add(&whole, part, got);
    fclose(file);
    is_there = memmem(whole.bytes, whole.used, bytes, strlen(bytes)) != NULL;
    text_release(&whole);
    return is_there;
}

static void what_is_gone_is_found_no_more(void **state)
{
    static const char *const gone[] = { "xyzzyplugh", "Xyzzyplugh", "qwv" };
    const struct store_sweep all = { INT64_MAX, 1000, 1000, 0 };
    struct place *place = *state;
    struct seen seen = { 0 };

    add_ask(place, 1, "Xyzzyplugh QWV", "bot");
    answer_ask(place, 1, "qwvqwv");
    for (int i = 2; i < 60; i++) {
        add_ask(place, i, "ordinary", "bot");
        answer_ask(place, i, "fine");
    }
    add_ask(place, 99, "stays open", "bot");
    take_up_all(place, NOW);
    assert_int_equal(find(place, "xyzzyplugh", NULL, 10, 0).count, 1);
    close_store(place);
    if (!chosen_is_postgres()) /* what a server leaves in its files is its own affair */
        assert_true(file_holds(place, "xyzzyplugh"));
    open_store(place);
    store_write_sweep(place->store, &all, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(seen.reply.seq, 59);
    assert_int_equal(find(place, "xyzzyplugh", NULL, 10, 0).count, 0);
    assert_int_equal(find(place, "", "bot", 10, 0).count, 1);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM words"), 0);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM by_agent"), 1);
    take_up_all(place, NOW); /* and tidies up */
    close_store(place);
    for (size_t i = 0; i < ARRAY_LEN(gone) && !chosen_is_postgres(); i++)
        assert_false(file_holds(place, gone[i]));
    open_store(place);
    assert_int_equal(bad_event(place), 0);
}

struct listed {
    int rows, ends;
};

static void count_listed(void *context, const struct store_row *row, const struct error *err)
{
    struct listed *listed = context;

    assert_null(err);
    listed->rows += row != NULL;
    listed->ends += row == NULL;
}

static int list_agent(struct place *place, const char *agent, enum store_list_which which,
                      size_t limit, int64_t before)
{
    struct store_list_query query = {
        .agent = agent, .which = which, .limit = limit, .before_number = before
    };
    struct listed listed = { 0 };

    place->store->ops->list(place->store, &query, count_listed, &listed);
    wait_until(place, &listed.ends);
    return listed.rows;
}

static void lists_of_an_agent_are_the_same(void **state)
{
    struct place *place = *state;

    add_many(place, 1, 200);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(list_agent(place, "rare", STORE_LIST_ALL, 100, 0), 4);
        assert_int_equal(list_agent(place, "rare", STORE_LIST_OPEN, 100, 0), 1);
        assert_int_equal(list_agent(place, "rare", STORE_LIST_ENDED, 100, 0), 3);
        assert_int_equal(list_agent(place, "rare", STORE_LIST_ALL, 2, 0), 2);
        assert_int_equal(list_agent(place, "common", STORE_LIST_ALL, 1000, 0), 196);
        assert_int_equal(list_agent(place, "common", STORE_LIST_ALL, 1000, 2), 1);
        assert_int_equal(list_agent(place, "nobody", STORE_LIST_ALL, 1000, 0), 0);
        if (round == 0)
            take_up(place, NOW, 120);
        else
            take_up_all(place, NOW);
    }
}

static void count_row(void *context, const struct store_row *row, const struct error *err)
{
    int *counts = context;

    assert_null(err);
    counts[row ? 0 : 1]++;
}

static int count_list(struct place *place, const struct store_list_query *query)
{
    int counts[2] = { 0 };

    place->store->ops->list(place->store, query, count_row, counts);
    wait_until(place, &counts[1]);
    return counts[0];
}

/* Asks are found by id, by its beginning, by principal and as pending ones; half of them are over.
 */
static void assert_all_found(struct place *place, int count)
{
    struct ask first = make_ask(0);
    const struct store_list_query own = { .limit = 1000, .principal = first.principal };
    const struct store_list_query open = { .limit = 1000, .which = STORE_LIST_OPEN };
    const struct store_list_query begun = { .limit = 1000, .id_prefix = first.id };

    for (int i = 0; i < count; i++)
        assert_true(is_there(place, i));
    assert_false(is_there(place, count));
    assert_int_equal(count_list(place, &own), count);
    assert_int_equal(count_list(place, &open), count / 2);
    assert_int_equal(count_list(place, &begun), 1);
}

/* Also in a file that was made before these tables were; and they hold nothing of what is gone. */
static void one_ask_is_found_however_long_ago(void **state)
{
    enum { COUNT = 40 };
    const struct store_sweep all = { INT64_MAX, 1000, 1000, 0 };
    struct place *place = *state;
    struct seen seen = { 0 };

    for (int i = 0; i < COUNT; i++) {
        struct ask ask = make_ask(i);

        create_done(place, &ask);
        if (i % 2)
            answer_ask(place, i, "done");
    }
    assert_all_found(place, COUNT);
    take_up(place, NOW, 15);
    assert_all_found(place, COUNT);
    if (!chosen_is_postgres()) {
        assert_in_range(sql_number(place, "SELECT count(*) FROM by_id"), 1, COUNT - 1);
        close_store(place);
        sql(place,
            "DROP TABLE by_id; DROP TABLE by_principal; DROP INDEX asks_undelivered;"
            " DROP INDEX asks_unheard;"
            " DROP TRIGGER search_moved; DROP TRIGGER ask_dropped; PRAGMA user_version = 5;"
            " ALTER TABLE tokens DROP COLUMN used_ms; ALTER TABLE tokens DROP COLUMN browser;"
            " INSERT INTO tokens VALUES (x'07', 'tab', 'owner', 'old', 0, 0, 5, 6, 0)");
        open_store(place);
        assert_int_equal(sql_number(place, "SELECT count(*) FROM tokens WHERE used_ms = 0"
                                           " AND browser IS NULL AND expires_ms = 6"),
                         1);
        assert_in_range(sql_number(place, "SELECT count(*) FROM by_id"), 1, COUNT - 1);
        assert_all_found(place, COUNT);
    }
    take_up_all(place, NOW);
    assert_all_found(place, COUNT);
    if (chosen_is_postgres())
        return;
    assert_int_equal(sql_number(place, "SELECT count(*) FROM by_id"), COUNT);
    store_write_sweep(place->store, &all, on_reply, &seen);
    wait_for(place, &seen);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM by_id"), COUNT / 2);
    assert_int_equal(sql_number(place, "SELECT count(*) FROM by_principal"), COUNT / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_index_changes_nothing_but_speed),
        CASE(pages_go_on),
        CASE(filters_hold),
        CASE(what_may_change_is_looked_at_itself),
        CASE(looking_ends_and_goes_on),
        CASE(many_that_were_left_are_taken_up),
        CASE(what_is_gone_is_found_no_more),
        CASE(lists_of_an_agent_are_the_same),
        CASE(one_ask_is_found_however_long_ago),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

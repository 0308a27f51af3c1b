/*
 * test_current_settings.c - a front's view of the host's settings: as they are in the file now,
 * whatever changed it.
 *
 * Proves: R8.1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "remove_tree.h"
#include "settings/settings.h"

static char directory[64], folder[96], path[128], fresh[140];

static int set_up(void **state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/sayso-current-XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(folder, sizeof folder, "%s/sayso", directory);
    snprintf(path, sizeof path, "%s/settings.json", folder);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    return mkdir(folder, 0700);
}

static int tear_down(void **state)
{
    (void)state;
    remove_tree(directory);
    return 0;
}

static void write_limit(const char *file, int limit_s)
{
    FILE *out = fopen(file, "w");

    assert_non_null(out);
    fprintf(out, "{\"hold_limits\":{\"*\":%d}}\n", limit_s);
    fclose(out);
}

static struct current_settings loaded(void)
{
    struct current_settings current = { .settings = settings_new() };

    settings_load(current.settings, path);
    return current;
}

static int64_t limit_within_turn_s(struct current_settings *current)
{
    return settings_hold_limit_s(current_settings(current), "somebody", false, 0);
}

static int64_t limit_s(struct current_settings *current)
{
    int64_t limit_s = limit_within_turn_s(current);

    current->is_seen = false;
    return limit_s;
}

static void a_file_that_is_another_is_read(void **state)
{
    struct current_settings current = loaded();
    int64_t built_in = limit_s(&current);

    (void)state;
    write_limit(path, 17); /* it comes */
    assert_int_equal(limit_s(&current), 17);
    write_limit(fresh, 18); /* as the program saves it: as long as the old one */
    assert_int_equal(rename(fresh, path), 0);
    assert_int_equal(limit_s(&current), 18);
    assert_int_equal(limit_s(&current), 18);
    write_limit(path, 190); /* as people do */
    assert_int_equal(limit_s(&current), 190);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(limit_s(&current), built_in);
    settings_free(current.settings);
}

static void one_that_stays_is_read_once(void **state)
{
    struct current_settings current = loaded();
    const struct settings *first;

    (void)state;
    write_limit(path, 17);
    first = current_settings(&current);
    current.is_seen = false;
    assert_ptr_equal(current_settings(&current), first);
    settings_free(current.settings);
}

static void a_turn_sees_one_file(void **state)
{
    struct current_settings current = loaded();

    (void)state;
    write_limit(path, 17);
    assert_int_equal(limit_within_turn_s(&current), 17);
    write_limit(path, 18);
    assert_int_equal(limit_within_turn_s(&current), 17);
    current.is_seen = false;
    assert_int_equal(limit_within_turn_s(&current), 18);
    settings_free(current.settings);
}

static bool is_refused(struct current_settings *current)
{
    struct error err;
    bool is_refused = settings_problem(current_settings(current), &err);

    current->is_seen = false;
    return is_refused;
}

/* There is no file to compare with while nothing can be read. */
static void a_way_that_leads_nowhere_is_noticed_when_it_comes_and_goes(void **state)
{
    static const char *const names[] = { path, folder };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct current_settings earlier = loaded(), later;

        if (names[i] == folder)
            assert_int_equal(rmdir(folder), 0);
        assert_false(is_refused(&earlier));
        assert_int_equal(symlink("nowhere", names[i]), 0);
        assert_true(is_refused(&earlier));
        later = loaded();
        assert_true(is_refused(&later));
        assert_int_equal(unlink(names[i]), 0);
        assert_false(is_refused(&earlier));
        assert_false(is_refused(&later));
        settings_free(earlier.settings);
        settings_free(later.settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_is_another_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_stays_is_read_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_turn_sees_one_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_way_that_leads_nowhere_is_noticed_when_it_comes_and_goes,
                                        set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * files_fixture.h - a directory of its own for each test about files and processes.
 * To be included behind cmocka's four headers.
 */
#ifndef TESTS_FILES_FIXTURE_H
#define TESTS_FILES_FIXTURE_H
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "remove_tree.h"

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

struct place {
    char directory[64];
};

static inline int set_up(void **state)
{
    struct place *place = mem_new(sizeof *place);

    snprintf(place->directory, sizeof place->directory, "/tmp/sayso-os-XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    *state = place;
    return 0;
}

static inline int tear_down(void **state)
{
    struct place *place = *state;

    assert_int_equal(remove_tree(place->directory), 0);
    free(place);
    return 0;
}

/* The path of something in the place; good until the fourth call from now. */
static inline const char *at(const struct place *place, const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", place->directory, name);
    return path;
}

static inline mode_t mode_of(const char *path)
{
    struct stat found;

    assert_int_equal(lstat(path, &found), 0);
    return found.st_mode & 07777;
}

static inline void assert_content(const char *path, const char *wanted)
{
    struct text bytes = { 0 };
    struct error err;

    assert_true(os_read_file(path, 4096, &bytes, &err));
    assert_string_equal(text_string(&bytes), wanted);
    text_release(&bytes);
}

#endif

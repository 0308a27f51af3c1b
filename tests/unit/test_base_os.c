/*
 * test_base_os.c - what is particular to the system: private files, locks, processes and their
 * ancestors, and peers.
 * Proves: R12.1 (who answers), R14.4, C1, C2, C4, C7
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "files_fixture.h"

static void test_a_private_directory_is_made(void **state)
{
    struct place *place = *state;
    struct error err;

    umask(0);
    assert_true(os_private_directory(at(place, "a/b/c"), &err));
    assert_int_equal(mode_of(at(place, "a")), 0700);
    assert_int_equal(mode_of(at(place, "a/b")), 0700);
    assert_int_equal(mode_of(at(place, "a/b/c")), 0700);
    assert_true(os_private_directory(at(place, "a/b/c"), &err)); /* there already */
    assert_int_equal(chmod(at(place, "a/b/c"), 0755), 0);
    assert_true(os_private_directory(at(place, "a/b/c"), &err)); /* only read by others: closed */
    assert_int_equal(mode_of(at(place, "a/b/c")), 0700);
    umask(022);
}

static void refuse_directory(const char *path, const char *words)
{
    struct error err = { 0 };

    assert_false(os_private_directory(path, &err));
    assert_int_equal(err.code, ERROR_unavailable);
    if (!strstr(err.message, words))
        fail_msg("%s: %s", path, err.message);
}

static void test_directories_that_are_refused(void **state)
{
    struct place *place = *state;
    struct error err;
    char long_path[5000];

    assert_int_equal(mkdir(at(place, "open"), 0700), 0);
    for (mode_t mode = 0; mode <= 022; mode++) {
        if (!(mode & 022))
            continue;
        assert_int_equal(chmod(at(place, "open"), 0700 | mode), 0);
        refuse_directory(at(place, "open"), "chmod 700");
    }
    assert_int_equal(chmod(at(place, "open"), 0700), 0);
    assert_int_equal(symlink(at(place, "open"), at(place, "link")), 0);
    refuse_directory(at(place, "link"), "not a directory");
    assert_true(os_write_file(at(place, "file"), "x", 1, &err));
    refuse_directory(at(place, "file"), "not a directory");
    refuse_directory(at(place, "file/below"), "can't create");
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = '\0';
    refuse_directory(long_path, "can't create");
    if (geteuid() == 0) {
        assert_int_equal(chown(at(place, "open"), 65534, 65534), 0);
        refuse_directory(at(place, "open"), "another user");
    }
}

static void test_files_are_replaced_whole(void **state)
{
    struct place *place = *state;
    struct error err = { 0 };
    char *left = mem_format("%s.%ld.new", at(place, "file"), (long)getpid());
    int fd;

    umask(0);
    assert_true(os_write_file(at(place, "file"), "first", 5, &err));
    assert_int_equal(mode_of(at(place, "file")), 0600);
    umask(022);
    fd = open(at(place, "file"), O_RDONLY);
    assert_true(os_write_file(at(place, "file"), "the second", 10, &err));
    assert_content(at(place, "file"), "the second");
    {
        char old[16] = "";

        assert_int_equal(read(fd, old, sizeof old), 5); /* who reads has the old file, whole */
        assert_string_equal(old, "first");
    }
    close(fd);
    assert_int_equal(symlink("/dev/null", left), 0); /* planted, or left by a process that died */
    assert_true(os_write_file(at(place, "file"), "", 0, &err));
    assert_content(at(place, "file"), "");
    assert_int_not_equal(access(left, F_OK), 0);
    free(left);
}

static void test_what_was_left_unfinished_goes(void **state)
{
    static const char *const left[] = { "file.1.new", "file.99999.new" };
    static const char *const stay[] = { "file",      "file.new",    "file.1.newer", "file.x.new",
                                        "file..new", "other.1.new", "file.1x.new",  "afile.1.new" };
    struct place *place = *state;
    struct error err;

    for (size_t i = 0; i < ARRAY_LEN(left); i++)
        assert_true(os_write_file(at(place, left[i]), "x", 1, &err));
    for (size_t i = 0; i < ARRAY_LEN(stay); i++)
        assert_true(os_write_file(at(place, stay[i]), "x", 1, &err));
    assert_int_equal(mkdir(at(place, "file.7.new"), 0700), 0); /* whatever that is, not ours */
    os_drop_unfinished(at(place, "file"));
    for (size_t i = 0; i < ARRAY_LEN(left); i++)
        assert_int_not_equal(access(at(place, left[i]), F_OK), 0);
    for (size_t i = 0; i < ARRAY_LEN(stay); i++)
        assert_content(at(place, stay[i]), "x");
    assert_int_equal(access(at(place, "file.7.new"), F_OK), 0);
    os_drop_unfinished(at(place, "nowhere/file"));
    os_drop_unfinished("file");
}

static void test_files_keep_a_mode_of_their_own(void **state)
{
    struct place *place = *state;
    struct error err;

    umask(077);
    assert_true(os_write_file_as(at(place, "f"), "one", 3, 0644, -1, &err));
    assert_int_equal(mode_of(at(place, "f")), 0644);
    assert_true(os_write_file_as(at(place, "f"), "two", 3, 0640, getegid(), &err));
    assert_int_equal(mode_of(at(place, "f")), 0640);
    assert_content(at(place, "f"), "two");
    umask(022);
}

static void test_files_that_cannot_be_written(void **state)
{
    struct place *place = *state;
    struct error err = { 0 };
    struct rlimit small = { 3, RLIM_INFINITY }, before;
    char long_path[4200];

    assert_int_equal(mkdir(at(place, "full"), 0700), 0);
    assert_int_equal(mkdir(at(place, "full/er"), 0700), 0);
    assert_false(os_write_file(at(place, "full"), "x", 1, &err));
    assert_int_equal(err.code, ERROR_storage_failed);
    assert_false(os_write_file(at(place, "nowhere/file"), "x", 1, &err));
    assert_int_equal(err.code, ERROR_storage_failed);
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_false(os_write_file(long_path, "x", 1, &err));
    assert_non_null(strstr(err.message, "too long"));
    assert_true(os_write_file(at(place, "file"), "old", 3, &err));
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0); /* no room for more */
    assert_false(os_write_file(at(place, "file"), "new and longer", 14, &err));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(err.code, ERROR_storage_failed);
    assert_content(at(place, "file"), "old"); /* readers see the old file or the new one */
}

static void test_reading_has_a_limit(void **state)
{
    struct place *place = *state;
    struct text bytes = { 0 };
    struct error err = { 0 };
    char *big = mem_new(10001);

    memset(big, 'x', 10000);
    assert_true(os_write_file(at(place, "file"), big, 10000, &err));
    assert_true(os_read_file(at(place, "file"), 10000, &bytes, &err));
    assert_int_equal(bytes.used, 10000);
    assert_string_equal(bytes.bytes, big);
    text_clear(&bytes);
    assert_false(os_read_file(at(place, "file"), 9999, &bytes, &err));
    assert_int_equal(err.code, ERROR_too_long);
    text_clear(&bytes);
    assert_false(os_read_file("/dev/zero", 100, &bytes, &err)); /* never more than it may */
    assert_int_equal(err.code, ERROR_too_long);
    assert_true(bytes.used <= 8192);
    text_clear(&bytes);
    assert_false(os_read_file(at(place, "none"), 100, &bytes, &err));
    assert_int_equal(err.code, ERROR_not_found);
    assert_false(os_read_file(place->directory, 100, &bytes, &err));
    assert_int_equal(err.code, ERROR_unavailable);
    assert_int_equal(mkfifo(at(place, "pipe"), 0600), 0);
    assert_true(os_read_file(at(place, "pipe"), 100, &bytes, &err)); /* and never waits */
    assert_int_equal(bytes.used, 0);
    text_release(&bytes);
    free(big);
}

static void test_one_holds_the_lock(void **state)
{
    struct place *place = *state;
    int first = -1, second = -1, status;
    pid_t child;

    assert_int_equal(os_lock_file(at(place, "lock"), &first), OS_LOCK_HELD);
    assert_int_equal(mode_of(at(place, "lock")), 0600);
    assert_int_equal(os_lock_file(at(place, "lock"), &second), OS_LOCK_BUSY);
    child = fork();
    if (child == 0)
        _exit(os_lock_file(at(place, "lock"), &second) == OS_LOCK_BUSY ? 0 : 1);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0); /* and the child's end released nothing */
    assert_int_equal(os_lock_file(at(place, "lock"), &second), OS_LOCK_BUSY);
    close(first);
    assert_int_equal(os_lock_file(at(place, "lock"), &second), OS_LOCK_HELD);
    close(second);
    assert_int_equal(symlink("lock", at(place, "link")), 0);
    assert_int_equal(os_lock_file(at(place, "link"), &first), OS_LOCK_FAILED);
    assert_int_equal(os_lock_file(place->directory, &first), OS_LOCK_FAILED);
    assert_int_equal(os_lock_file(at(place, "no/lock"), &first), OS_LOCK_FAILED);
}

/* A child that waits until it is told to go; its answer is read from it first. */
struct child {
    pid_t pid;
    int answer, go;
};

static struct child child_start(void (*run)(int answer))
{
    int answer[2], go[2];
    struct child child;
    char byte;

    assert_int_equal(pipe(answer) | pipe(go), 0);
    child.pid = fork();
    if (child.pid == 0) {
        close(go[1]);
        close(answer[0]);
        run(answer[1]);
        if (read(go[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(answer[1]);
    close(go[0]);
    child.answer = answer[0];
    child.go = go[1];
    return child;
}

static void child_end(struct child *child)
{
    close(child->go);
    close(child->answer);
    waitpid(child->pid, NULL, 0);
}

/* Calls itself what no parser likes, and says when that is done. */
static void run_named(int answer)
{
    prctl(PR_SET_NAME, "x) R 1 (y", 0, 0, 0);
    if (write(answer, "n", 1) != 1)
        _exit(1);
}

/* Has a child of its own and tells its pid. */
static void run_parent(int answer)
{
    pid_t below = fork();

    if (below == 0) {
        sleep(30); /* the test ends it */
        _exit(0);
    }
    if (write(answer, &below, sizeof below) != sizeof below)
        _exit(1);
}

static void test_processes(void **state)
{
    struct os_process self, again, other;
    struct child child;
    char byte;

    (void)state;
    assert_true(os_process(getpid(), &self));
    assert_int_equal(self.pid, getpid());
    assert_int_equal(self.parent, getppid());
    assert_true(self.start > 0);
    assert_true(os_process(getpid(), &again));
    assert_int_equal(self.start, again.start);
    child = child_start(run_named);
    assert_int_equal(read(child.answer, &byte, 1), 1);
    assert_true(os_process(child.pid, &other));
    assert_int_equal(other.parent, getpid());
    assert_true(other.start >= self.start);
    child_end(&child);
    assert_false(os_process(child.pid, &other));
    assert_false(os_process(0, &other));
    assert_false(os_process(-1, &other));
}

static bool descends_from(int64_t pid, int64_t ancestor, uint64_t start)
{
    struct os_identity line[OS_MAX_ANCESTORS];
    size_t count = os_lineage(pid, line);

    for (size_t i = 0; i < count; i++) {
        if (line[i].pid == ancestor && line[i].start == start)
            return true;
    }
    return false;
}

static void test_ancestors(void **state)
{
    struct os_process self, process;
    struct child child;
    pid_t below;

    (void)state;
    assert_true(os_process(getpid(), &self));
    child = child_start(run_parent);
    assert_int_equal(read(child.answer, &below, sizeof below), sizeof below);
    assert_true(os_process(child.pid, &process));
    assert_true(descends_from(getpid(), getpid(), self.start));
    assert_true(descends_from(child.pid, getpid(), self.start));
    assert_true(descends_from(below, getpid(), self.start));
    assert_true(descends_from(below, child.pid, process.start));
    assert_false(descends_from(getpid(), child.pid, process.start));
    /* the same number with another start time is another process */
    assert_false(descends_from(child.pid, getpid(), self.start + 1));
    assert_false(descends_from(below, child.pid, process.start + 1));
    assert_false(descends_from(getpid(), 0, 0));
    kill(below, SIGKILL);
    child_end(&child);
    assert_false(descends_from(child.pid, getpid(), self.start));
}

/* The machine's PID 1 is everyone's ancestor, whatever its name is; a container's can be an
 * agent's client. */
static void test_the_first_process(void **state)
{
    struct os_process first, process = { .parent = getpid() };
    char space[64] = "";

    (void)state;
    assert_true(os_process(1, &first));
    while (process.parent > 1) /* from outside a container, nothing of it is above this process */
        assert_true(os_process(process.parent, &process));
    assert_true(readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0);
    assert_true(descends_from(getpid(), 1, first.start) ==
                (process.parent == 1 && strcmp(space, "pid:[4026531836]") != 0));
}

static void run_on_terminal(int answer)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    char name[64] = "";
    int slave;

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        _exit(1);
    snprintf(name, sizeof name, "%s", ptsname(master));
    setsid();
    slave = open(name, O_RDWR);
    if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) != 0 || write(answer, name, sizeof name) < 0)
        _exit(1);
}

static void run_without_terminal(int answer)
{
    setsid();
    if (write(answer, "n", 1) != 1)
        _exit(1);
}

static void test_terminals(void **state)
{
    struct child child = child_start(run_on_terminal);
    struct os_process process;
    char name[64] = "";

    (void)state;
    if (read(child.answer, name, sizeof name) == sizeof name) { /* some sandboxes have no ptys */
        assert_true(os_process(child.pid, &process));
        assert_string_equal(process.tty, name);
    }
    child_end(&child);
    child = child_start(run_without_terminal);
    assert_int_equal(read(child.answer, name, 1), 1);
    assert_true(os_process(child.pid, &process));
    assert_string_equal(process.tty, "");
    child_end(&child);
}

static void test_locks_are_seen(void **state)
{
    struct place *place = *state;
    int fd;

    assert_false(os_is_locked(at(place, "lock")));
    assert_int_equal(os_lock_file(at(place, "lock"), &fd), OS_LOCK_HELD);
    assert_true(os_is_locked(at(place, "lock")));
    close(fd);
    assert_false(os_is_locked(at(place, "lock")));
}

static void test_peers(void **state)
{
    int pair[2], ends[2];
    int64_t uid = -1, pid = -1;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(os_peer(pair[0], &uid, &pid));
    assert_int_equal(uid, geteuid());
    assert_int_equal(pid, getpid());
    assert_int_equal(pipe(ends), 0);
    assert_false(os_peer(ends[0], &uid, &pid));
    assert_false(os_peer(-1, &uid, &pid));
    close(pair[0]);
    close(pair[1]);
    close(ends[0]);
    close(ends[1]);
}

static void run_hardened(int answer)
{
    struct rlimit core;
    char is_hard;

    umask(0);
    os_harden();
    getrlimit(RLIMIT_CORE, &core);
    is_hard =
        umask(0) == 077 && core.rlim_cur == 0 && core.rlim_max == 0 && prctl(PR_GET_DUMPABLE) == 0;
    if (write(answer, is_hard ? "y" : "n", 1) != 1)
        _exit(1);
}

static void test_hardening(void **state)
{
    struct child child = child_start(run_hardened);
    char byte = 0;

    (void)state;
    assert_int_equal(read(child.answer, &byte, 1), 1);
    assert_int_equal(byte, 'y');
    child_end(&child);
}

static void run_with_files(int answer)
{
    struct rlimit files = { 100, 200 };
    rlim_t found[3];

    setrlimit(RLIMIT_NOFILE, &files);
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        os_allow_files((size_t[]){ 150, 120, 100000 }[i]);
        getrlimit(RLIMIT_NOFILE, &files);
        found[i] = files.rlim_cur;
    }
    if (write(answer, found[0] == 150 && found[1] == 150 && found[2] == 200 ? "y" : "n", 1) != 1)
        _exit(1);
}

static void test_files_allowed(void **state)
{
    struct child child;
    char byte = 0;

    (void)state;
    if (getenv("SAYSO_VALGRIND")) /* which answers setrlimit itself, and otherwise */
        skip();
    child = child_start(run_with_files);
    assert_int_equal(read(child.answer, &byte, 1), 1);
    assert_int_equal(byte, 'y');
    child_end(&child);
}

static void test_who_and_where(void **state)
{
    struct place *place = *state;
    char out[4096], before[4096], tiny[2];
    char *home = mem_text(getenv("HOME"));

    setenv("HOME", "/some/where", 1);
    assert_true(os_home(out, sizeof out));
    assert_string_equal(out, "/some/where");
    assert_false(os_home(tiny, sizeof tiny));
    setenv("HOME", "relative", 1); /* as good as none */
    assert_true(os_home(out, sizeof out));
    assert_int_equal(out[0], '/');
    unsetenv("HOME");
    assert_true(os_home(before, sizeof before));
    assert_string_equal(out, before);
    if (home)
        setenv("HOME", home, 1);
    assert_true(os_own_program(out, sizeof out));
    assert_non_null(strstr(out, "test_base_os"));
    assert_true(os_working_directory(before, sizeof before));
    assert_int_equal(chdir(place->directory), 0);
    assert_true(os_working_directory(out, sizeof out));
    assert_string_equal(out, place->directory);
    assert_int_equal(chdir(before), 0);
    assert_true(os_user_name(out, sizeof out));
    assert_true(out[0] != '\0');
    assert_false(os_user_name(tiny, 1));
    assert_true(os_free_bytes(place->directory) > 0);
    assert_int_equal(os_free_bytes(at(place, "none")), -1);
    assert_false(os_is_network_file_system(place->directory));
    assert_false(os_is_network_file_system(at(place, "none")));
    free(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_private_directory_is_made),
        CASE(test_directories_that_are_refused),
        CASE(test_files_are_replaced_whole),
        CASE(test_files_that_cannot_be_written),
        CASE(test_reading_has_a_limit),
        CASE(test_one_holds_the_lock),
        CASE(test_what_was_left_unfinished_goes),
        CASE(test_files_keep_a_mode_of_their_own),
        CASE(test_locks_are_seen),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_ancestors),
        cmocka_unit_test(test_the_first_process),
        cmocka_unit_test(test_terminals),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_hardening),
        cmocka_unit_test(test_files_allowed),
        CASE(test_who_and_where),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

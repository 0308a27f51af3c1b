/* tls_fixture.c - see tls_fixture.h. */
#include "tls_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remove_tree.h"

enum { WORDS = 24 };

/* The program with the words of one line, in the directory of the files. */
static void openssl(const struct tls_files *files, const char *line)
{
    char *words[WORDS] = { NULL }, text[1024], *rest = NULL;
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t pid;

    snprintf(text, sizeof text, "openssl %s", line);
    for (size_t i = 0; i < WORDS - 1; i++) {
        words[i] = strtok_r(i ? NULL : text, " ", &rest);
        if (!words[i])
            break;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, files->directory);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1, 0);
    if (posix_spawnp(&pid, "openssl", &actions, NULL, words, environ) != 0)
        fail_msg("there is no openssl to make certificates with");
    posix_spawn_file_actions_destroy(&actions);
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    if (status != 0)
        fail_msg("openssl %s: status %d", line, status);
}

#define NEW_KEY "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -batch "
#define SIGN    "x509 -req -CA ca.pem -CAkey ca.key -CAcreateserial "

static void write_names(const struct tls_files *files, const char *name, const char *names)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", files->directory, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "subjectAltName=%s\n", names);
    fclose(file);
}

void tls_files_make(struct tls_files *files)
{
    static const char *const lines[] = {
        NEW_KEY "-x509 -days 2 -subj /CN=ca -keyout ca.key -out ca.pem",
        NEW_KEY "-x509 -days 2 -subj /CN=other -keyout other_ca.key -out other_ca.pem",
        NEW_KEY "-subj /CN=own -keyout own.key -out own.csr",
        NEW_KEY "-subj /CN=other -keyout other.key -out other.csr",
        SIGN "-in own.csr -extfile own.ext -days 2 -out own.pem",
        "ec -in own.key -aes256 -passout pass:secret -out locked.key",
        SIGN "-in own.csr -extfile own.ext -days -1 -out expired.pem",
        SIGN "-in other.csr -extfile other.ext -days 2 -out other.pem",
    };
    const struct {
        char *place;
        const char *name;
    } rows[] = {
        { files->ca, "ca.pem" },
        { files->other_ca, "other_ca.pem" },
        { files->certificate, "own.pem" },
        { files->key, "own.key" },
        { files->expired, "expired.pem" },
        { files->locked_key, "locked.key" },
        { files->other_certificate, "other.pem" },
        { files->other_key, "other.key" },
    };

    snprintf(files->directory, sizeof files->directory, "/tmp/sytXXXXXX");
    assert_non_null(mkdtemp(files->directory));
    write_names(files, "own.ext", "DNS:localhost,IP:127.0.0.1");
    write_names(files, "other.ext", "DNS:elsewhere.example");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        openssl(files, lines[i]);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        snprintf(rows[i].place, sizeof files->ca, "%s/%s", files->directory, rows[i].name);
}

void tls_files_remove(const struct tls_files *files)
{
    remove_tree(files->directory);
}

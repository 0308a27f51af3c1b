#include "cli/install/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "cli/install/config_text.h"
#include "i18n/i18n.h"

enum {
    MAX_BYTES = 64 * 1024 * 1024,
    OWN_FILE = 0600,
    OWN_DIRECTORY = 0700,
    PROJECT_FILE = 0644, /* belongs to everybody who works on the project */
    PROJECT_DIRECTORY = 0755,
};

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash > path ? mem_text_n(path, (size_t)(slash - path)) : mem_text("/");
}

static bool is_shared(const char *path)
{
    char *directory = directory_of(path);
    struct stat found;
    bool is_so = stat(directory, &found) != 0 || (found.st_mode & 022) != 0;

    free(directory);
    return is_so;
}

/* Where the file itself is; a link is followed, but not to where others could have put it. */
static char *resolve(const char *path, struct error *err)
{
    struct stat found;
    char *behind;

    if (lstat(path, &found) != 0 || !S_ISLNK(found.st_mode))
        return mem_text(path);
    behind = realpath(path, NULL);
    if (!behind) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_CONFIG_LINK_NOWHERE, "path", path, NULL);
    } else if (is_shared(path) || is_shared(behind)) {
        error_say(err, ERROR_unavailable, "", TEXT_REASON_CONFIG_LINK_SHARED, "path", path, NULL);
        free(behind);
        behind = NULL;
    }
    return behind;
}

static bool read_all(int fd, const char *path, struct text *out, struct error *err)
{
    char bytes[65536];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof bytes)) > 0 && out->used <= MAX_BYTES)
        text_add(out, bytes, (size_t)got);
    if (got < 0)
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_READ, "path", path, "reason",
                         strerror(errno), NULL);
    return out->used <= MAX_BYTES || error_say(err, ERROR_too_long, "", TEXT_REASON_FILE_TOO_LARGE,
                                               "path", path, "limit", TEXT_NUMBER(MAX_BYTES), NULL);
}

static bool read_open(int fd, struct config_file *file, struct error *err)
{
    struct stat found;

    if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_STORE_NO_FILE, "path", file->path,
                         NULL);
    if (found.st_uid != geteuid())
        return error_say(err, ERROR_unavailable, "", TEXT_REASON_CONFIG_OTHER_USER, "path",
                         file->path, NULL);
    file->is_there = true;
    file->mode = found.st_mode & 07777;
    file->group = found.st_gid;
    return read_all(fd, file->path, &file->bytes, err);
}

bool config_file_read(const char *path, bool is_project, struct config_file *ret_file,
                      struct error *err)
{
    struct config_file file = { .path = resolve(path, err), .is_project = is_project };
    bool ok = false;
    int fd;

    if (!file.path)
        return false;
    file.backup = mem_format("%s.before-sayso", file.path);
    fd = open(file.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        ok = read_open(fd, &file, err);
        close(fd);
    } else {
        ok = errno == ENOENT || error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_OPEN, "path",
                                          file.path, "reason", strerror(errno), NULL);
    }
    if (ok)
        *ret_file = file;
    else
        config_file_release(&file);
    return ok;
}

void config_file_release(struct config_file *file)
{
    free(file->path);
    free(file->backup);
    text_release(&file->bytes);
    *file = (struct config_file){ 0 };
}

void config_file_name_backup(struct config_file *file, const char *kind)
{
    free(file->backup);
    file->backup = mem_format("%s.before-sayso-%s", file->path, kind);
}

bool config_file_read_backup(const struct config_file *file, struct text *out)
{
    int fd = open(file->backup, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat found;
    bool ok = fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
              found.st_uid == geteuid() && read_all(fd, file->backup, out, NULL);

    if (fd >= 0)
        close(fd);
    return ok;
}

void config_file_drop_same_backup(const struct config_file *file)
{
    struct text backup = { 0 };

    if (file->is_there && config_file_read_backup(file, &backup) &&
        config_same(&backup, &file->bytes))
        unlink(file->backup);
    text_release(&backup);
}

static bool make_directories(const struct config_file *file, struct error *err)
{
    char *partial = mem_text(file->path);
    bool ok = true;

    for (char *slash = strchr(partial + 1, '/'); slash && ok; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(partial, OWN_DIRECTORY) == 0)
            ok = !file->is_project || chmod(partial, PROJECT_DIRECTORY) == 0;
        else
            ok = errno == EEXIST;
        if (!ok)
            error_say(err, ERROR_storage_failed, "", TEXT_REASON_CANT_MAKE, "path", partial,
                      "reason", strerror(errno), NULL);
        *slash = '/';
    }
    free(partial);
    return ok;
}

static bool are_same(int fd, int other)
{
    struct stat one, two;

    return fstat(fd, &one) == 0 && fstat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

int config_file_lock(const struct config_file *file, int held, struct error *err)
{
    char *directory = directory_of(file->path);
    int fd = -1;

    if (make_directories(file, err)) {
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || (!are_same(fd, held) && flock(fd, LOCK_EX) != 0)) {
            error_say(err, ERROR_unavailable, "", TEXT_REASON_CANT_LOCK_FILE, "path", directory,
                      "reason", strerror(errno), NULL);
            if (fd >= 0)
                close(fd);
            fd = -1;
        }
    }
    if (fd >= 0) {
        os_drop_unfinished(file->path);
        os_drop_unfinished(file->backup);
    }
    free(directory);
    return fd;
}

bool config_file_back_up(const struct config_file *file, struct error *err)
{
    return os_write_file(file->backup, text_string(&file->bytes), file->bytes.used, err);
}

bool config_file_write(const struct config_file *file, const struct text *bytes, bool keeps_backup,
                       struct error *err)
{
    unsigned mode = file->is_there     ? file->mode
                    : file->is_project ? (unsigned)PROJECT_FILE
                                       : (unsigned)OWN_FILE;

    if (!file->is_there && !keeps_backup)
        unlink(file->backup); /* of a file that is gone */
    if (file->is_there && !keeps_backup && !config_file_back_up(file, err))
        return false;
    CRASH_POINT(install_backed_up);
    return os_write_file_as(file->path, text_string(bytes), bytes->used, mode,
                            file->is_there ? file->group : -1, err);
}

bool config_file_restore(const struct config_file *file, const struct text *bytes,
                         struct error *err)
{
    if (bytes) {
        if (!os_write_file_as(file->path, text_string(bytes), bytes->used, file->mode, file->group,
                              err))
            return false;
    } else if (unlink(file->path) != 0) {
        return error_say(err, ERROR_storage_failed, "", TEXT_REASON_CANT_REMOVE, "path", file->path,
                         "reason", strerror(errno), NULL);
    }
    CRASH_POINT(install_restored);
    unlink(file->backup);
    return true;
}

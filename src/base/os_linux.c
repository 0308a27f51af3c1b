/* os_linux.c - peers, private files and locks on Linux; see os.h. */
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/text.h"

enum { OS_PATH_BYTES = 4096 };

void os_harden(void)
{
    struct rlimit none = { 0, 0 };

    umask(077);
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

void os_allow_files(size_t count)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= count)
        return;
    files.rlim_cur = count < files.rlim_max ? count : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

bool os_peer(int socket_fd, int64_t *ret_uid, int64_t *ret_pid)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return false;
    *ret_uid = peer.uid;
    *ret_pid = peer.pid;
    return true;
}

int64_t os_unacknowledged_bytes(int socket_fd)
{
    int bytes = 0;

    return ioctl(socket_fd, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

int os_socket_error(int socket_fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    return getsockopt(socket_fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

static bool make_parents(const char *path)
{
    char partial[OS_PATH_BYTES];

    if (snprintf(partial, sizeof partial, "%s", path) >= (int)sizeof partial)
        return false;
    for (char *slash = strchr(partial + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(partial, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

bool os_private_directory(const char *path, struct error *err)
{
    struct stat found;

    if (!make_parents(path) || (mkdir(path, 0700) != 0 && errno != EEXIST))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_CANT_MAKE, "path", path,
                              "reason", strerror(errno), NULL);
    if (lstat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_NO_DIRECTORY, "path", path,
                              NULL);
    if (found.st_uid != geteuid())
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_FOREIGN_DIRECTORY, "path",
                              path, NULL);
    if (found.st_mode & 022)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_OPEN_DIRECTORY, "path", path,
                              NULL);
    if ((found.st_mode & 077) && chmod(path, 0700) != 0)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_NOT_PRIVATE, "path", path,
                              "reason", strerror(errno), NULL);
    return true;
}

bool os_private_file(const char *path, struct error *err)
{
    struct stat found;

    if (stat(path, &found) != 0)
        return error_say_base(err, errno == ENOENT ? ERROR_not_found : ERROR_unavailable, "",
                              BASE_REASON_CANT_READ, "path", path, "reason", strerror(errno), NULL);
    if (!S_ISREG(found.st_mode))
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_SECRET_NO_FILE, "path", path,
                              NULL);
    if (found.st_uid != geteuid() && found.st_uid != 0)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_SECRET_FOREIGN, "path", path,
                              NULL);
    if (found.st_mode & 077)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_SECRET_OPEN, "path", path,
                              NULL);
    return true;
}

bool os_is_network_file_system(const char *path)
{
    static const unsigned network_types[] = {
        0x6969,     /* NFS */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB2 */
        0x01021997, /* 9P */
        0x00c36400, /* Ceph */
        0x5346414f, /* AFS */
    };
    struct statfs found;

    if (statfs(path, &found) != 0)
        return false;
    for (size_t i = 0; i < sizeof network_types / sizeof *network_types; i++) {
        if ((unsigned)found.f_type == network_types[i])
            return true;
    }
    return false;
}

int64_t os_free_bytes(const char *path)
{
    struct statvfs found;

    if (statvfs(path, &found) != 0)
        return -1;
    return (int64_t)found.f_bavail * (int64_t)found.f_frsize;
}

bool os_home(char *out, size_t size)
{
    const char *home = getenv("HOME");
    char room[OS_PATH_BYTES];
    struct passwd entry, *found = NULL;

    if (!home || home[0] != '/') /* by the function that threads may use: we may be in a library */
        home = getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0 && found
                   ? found->pw_dir
                   : NULL;
    return home && home[0] == '/' && snprintf(out, size, "%s", home) < (int)size;
}

bool os_is_usual_home(const char *path)
{
    const struct passwd *entry = getpwuid(geteuid());

    return entry && strcmp(entry->pw_dir, path) == 0;
}

bool os_own_program(char *out, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", out, size - 1);

    if (length <= 0)
        return false;
    out[length] = '\0';
    return true;
}

bool os_working_directory(char *out, size_t size)
{
    return getcwd(out, size) != NULL;
}

bool os_user_name(char *out, size_t size)
{
    const struct passwd *entry = getpwuid(geteuid());

    if (entry)
        return snprintf(out, size, "%s", entry->pw_name) < (int)size;
    return snprintf(out, size, "uid %u", (unsigned)geteuid()) < (int)size;
}

bool os_read_file(const char *path, size_t max_bytes, struct text *out, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char bytes[4096];
    ssize_t got;
    size_t total = 0;

    if (fd < 0)
        return error_say_base(err, errno == ENOENT ? ERROR_not_found : ERROR_storage_failed, "",
                              BASE_REASON_CANT_OPEN, "path", path, "reason", strerror(errno), NULL);
    while ((got = read(fd, bytes, sizeof bytes)) > 0 && total <= max_bytes) {
        text_add(out, bytes, (size_t)got);
        total += (size_t)got;
    }
    close(fd);
    if (got < 0)
        return error_say_base(err, ERROR_unavailable, "", BASE_REASON_CANT_READ, "path", path,
                              "reason", strerror(errno), NULL);
    if (total > max_bytes)
        return error_say_base(err, ERROR_too_long, "", BASE_REASON_FILE_TOO_LARGE, "path", path,
                              "limit", TEXT_NUMBER(max_bytes), NULL);
    if (out->has_overflowed)
        return error_set_no_memory(err);
    return true;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

static void sync_directory_of(const char *path)
{
    char directory[OS_PATH_BYTES];
    char *slash;
    int fd;

    snprintf(directory, sizeof directory, "%s", path);
    slash = strrchr(directory, '/');
    if (!slash)
        return;
    *slash = '\0';
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* PATH.PID.new, as os_write_file_as calls it. */
static bool is_unfinished(const char *entry, const char *name)
{
    size_t length = strlen(name), digits;

    if (strncmp(entry, name, length) != 0 || entry[length] != '.')
        return false;
    digits = strspn(entry + length + 1, "0123456789");
    return digits > 0 && strcmp(entry + length + 1 + digits, ".new") == 0;
}

void os_drop_unfinished(const char *path)
{
    char directory[OS_PATH_BYTES];
    char *slash;
    DIR *entries;
    struct dirent *entry;

    if (snprintf(directory, sizeof directory, "%s", path) >= (int)sizeof directory)
        return;
    slash = strrchr(directory, '/');
    if (!slash)
        return;
    *slash = '\0';
    entries = opendir(slash == directory ? "/" : directory);
    while (entries && (entry = readdir(entries))) {
        if (is_unfinished(entry->d_name, slash + 1))
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
}

bool os_write_file(const char *path, const char *bytes, size_t length, struct error *err)
{
    return os_write_file_as(path, bytes, length, 0600, -1, err);
}

bool os_write_file_as(const char *path, const char *bytes, size_t length, unsigned mode,
                      int64_t group, struct error *err)
{
    char beside[OS_PATH_BYTES];
    bool ok;
    int fd;

    if (snprintf(beside, sizeof beside, "%s.%ld.new", path, (long)getpid()) >= (int)sizeof beside)
        return error_set(err, ERROR_storage_failed, "", "the path %.200s is too long", path);
    unlink(beside); /* left by a process that died here; ours alone, the name has our pid */
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_say_base(err, ERROR_storage_failed, "", BASE_REASON_CANT_WRITE, "path", beside,
                              "reason", strerror(errno), NULL);
    ok = write_all(fd, bytes, length);
    if (ok && group >= 0)
        ok = fchown(fd, (uid_t)-1, (gid_t)group) == 0;
    ok = ok && (mode == 0600 || fchmod(fd, mode) == 0) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    CRASH_POINT(os_file_written);
    if (!ok || rename(beside, path) != 0) {
        error_say_base(err, ERROR_storage_failed, "", BASE_REASON_CANT_WRITE, "path", path,
                       "reason", strerror(errno), NULL);
        unlink(beside);
        return false;
    }
    sync_directory_of(path);
    return true;
}

enum os_lock os_lock_file(const char *path, int *ret_fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_busy;

    if (fd < 0)
        return OS_LOCK_FAILED;
    if (fcntl(fd, F_OFD_SETLK, &whole) == 0) {
        *ret_fd = fd;
        return OS_LOCK_HELD;
    }
    is_busy = errno == EAGAIN || errno == EACCES;
    close(fd);
    return is_busy ? OS_LOCK_BUSY : OS_LOCK_FAILED;
}

bool os_is_locked(const char *path)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool is_locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;

    if (fd >= 0)
        close(fd);
    return is_locked;
}

void *os_map_aligned(size_t bytes)
{
    char *found = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (found == MAP_FAILED)
        return NULL;
    before = (bytes - (uintptr_t)found % bytes) % bytes;
    if (before)
        munmap(found, before);
    munmap(found + before + bytes, bytes - before);
    return found + before;
}

void os_unmap(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void os_give_memory_back(void)
{
    malloc_trim(0);
}

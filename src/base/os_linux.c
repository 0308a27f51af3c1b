/* os_linux.c - peers, private files and locks on Linux; see os.h. */
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/crash_point.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
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

/* Of that path, by errno where the text has a reason. */
static bool fail(struct error *err, enum error_code code, enum base_text text, const char *path)
{
    return error_say_base(err, code, "", text, "path", path, "reason", strerror(errno), NULL);
}

bool os_private_directory(const char *path, struct error *err)
{
    struct stat found;

    if (!make_parents(path) || (mkdir(path, 0700) != 0 && errno != EEXIST))
        return fail(err, ERROR_unavailable, BASE_REASON_CANT_MAKE, path);
    if (lstat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return fail(err, ERROR_unavailable, BASE_REASON_NO_DIRECTORY, path);
    if (found.st_uid != geteuid())
        return fail(err, ERROR_unavailable, BASE_REASON_FOREIGN_DIRECTORY, path);
    if (found.st_mode & 022)
        return fail(err, ERROR_unavailable, BASE_REASON_OPEN_DIRECTORY, path);
    if ((found.st_mode & 077) && chmod(path, 0700) != 0)
        return fail(err, ERROR_unavailable, BASE_REASON_NOT_PRIVATE, path);
    return true;
}

bool os_private_file(const char *path, struct error *err)
{
    struct stat found;

    if (stat(path, &found) != 0)
        return fail(err, errno == ENOENT ? ERROR_not_found : ERROR_unavailable,
                    BASE_REASON_CANT_READ, path);
    if (!S_ISREG(found.st_mode))
        return fail(err, ERROR_unavailable, BASE_REASON_SECRET_NO_FILE, path);
    if (found.st_uid != geteuid() && found.st_uid != 0)
        return fail(err, ERROR_unavailable, BASE_REASON_SECRET_FOREIGN, path);
    if (found.st_mode & 077)
        return fail(err, ERROR_unavailable, BASE_REASON_SECRET_OPEN, path);
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
    return home && home[0] == '/' && strlen(home) < size && memcpy(out, home, strlen(home) + 1);
}

bool os_is_usual_home(const char *path)
{
    const struct passwd *entry = getpwuid(geteuid());

    return entry && strcmp(entry->pw_dir, path) == 0;
}

bool os_own_program(char *out, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", out, size - 1);

    if (length <= 0) { /* there is no /proc: as the kernel was told */
        char *told = realpath((const char *)getauxval(AT_EXECFN), NULL);

        length = told ? snprintf(out, size, "%s", told) : 0;
        free(told);
        return length > 0 && (size_t)length < size;
    }
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
        return fail(err, errno == ENOENT ? ERROR_not_found : ERROR_storage_failed,
                    BASE_REASON_CANT_OPEN, path);
    while ((got = read(fd, bytes, sizeof bytes)) > 0 && total <= max_bytes) {
        text_add(out, bytes, (size_t)got);
        total += (size_t)got;
    }
    close(fd);
    if (got < 0)
        return fail(err, ERROR_unavailable, BASE_REASON_CANT_READ, path);
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

/* Leaves the directory of the path in `out` and returns the name in it; NULL: it has none. */
static const char *split_path(const char *path, char out[OS_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0; /* the root stays */

    if (!slash || length >= OS_PATH_BYTES)
        return NULL;
    text_head(path, length, out);
    return slash + 1;
}

static void sync_directory_of(const char *path)
{
    char directory[OS_PATH_BYTES];
    int fd = split_path(path, directory) ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

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
    const char *name = split_path(path, directory);
    DIR *entries = name ? opendir(directory) : NULL;
    struct dirent *entry;

    while (entries && (entry = readdir(entries))) {
        if (is_unfinished(entry->d_name, name))
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
        return fail(err, ERROR_storage_failed, BASE_REASON_CANT_WRITE, beside);
    ok = write_all(fd, bytes, length);
    if (ok && group >= 0)
        ok = fchown(fd, (uid_t)-1, (gid_t)group) == 0;
    ok = ok && (mode == 0600 || fchmod(fd, mode) == 0) && fsync(fd) == 0;
    ok = close(fd) == 0 && ok;
    CRASH_POINT(os_file_written);
    if (!ok || rename(beside, path) != 0) {
        fail(err, ERROR_storage_failed, BASE_REASON_CANT_WRITE, path);
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

/* C libraries other than glibc have no function for it. */
bool os_rename_new(const char *from, const char *to)
{
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */) == 0;
}

void os_unmap(void *memory, size_t bytes)
{
    munmap(memory, bytes);
}

void os_give_memory_back(void)
{
#ifdef __GLIBC__ /* other C libraries do that by themselves */
    malloc_trim(0);
#endif
}

/* Many descriptors watched through one; see os.h. */

static const struct {
    unsigned event;
    uint32_t bit;
} bits[] = {
    { OS_READABLE, EPOLLIN },
    { OS_WRITABLE, EPOLLOUT },
    { OS_HUNG_UP, EPOLLRDHUP },
};

int os_watch_file(const char *path)
{
    int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

    if (watch < 0 || inotify_add_watch(watch, path, IN_MODIFY) >= 0)
        return watch;
    close(watch);
    return -1;
}

void os_take_changes(int watch)
{
    char events[4096]; /* of one file, none has a name */

    while (read(watch, events, sizeof events) > 0)
        ;
}

int os_poller_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

bool os_poller_watch(int poller, int fd, unsigned before, unsigned events, void *thing)
{
    struct epoll_event wanted = { .data.ptr = thing };
    int act = !events ? EPOLL_CTL_DEL : !before ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

    if (events == before)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
        if (events & bits[i].event)
            wanted.events |= bits[i].bit;
    }
    return epoll_ctl(poller, act, fd, &wanted) == 0;
}

/* A socket that ended on both sides is ready for everything; the next call returns the error. */
static unsigned events_of(uint32_t found)
{
    unsigned events = found & EPOLLERR ? OS_BROKEN : 0;

    for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
        if (found & bits[i].bit)
            events |= bits[i].event;
    }
    return events ? events : OS_READABLE | OS_WRITABLE | OS_HUNG_UP;
}

int os_poller_take(int poller, struct os_ready *ready, int max)
{
    struct epoll_event found[OS_POLLER_MAX];
    int count = epoll_wait(poller, found, max < OS_POLLER_MAX ? max : OS_POLLER_MAX, 0);

    for (int i = 0; i < count; i++)
        ready[i] = (struct os_ready){ found[i].data.ptr, events_of(found[i].events) };
    return count < 0 ? 0 : count;
}

/* Whose a port and the other end of a connection are: the kernel knows the user of every socket of
 * this machine (sock_diag(7); where that is not allowed, its tables, proc(5)). */

enum {
    ADDRESS_BYTES = 40,
    LINKS_MAX = 65536, /* descriptors that are looked at in a search */
};

/* One row: number, both ends, state, two columns of queues and timers, retransmits, uid, ... */
enum column { LOCAL = 1, REMOTE = 2, STATE = 3, UID = 7, INODE = 9, COLUMNS = 10 };

static bool split_row(char *line, const char *columns[COLUMNS])
{
    char *rest = NULL;

    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = strtok_r(i ? NULL : line, " ", &rest);
        if (!columns[i])
            return false;
    }
    return true;
}

/* The uid in one row, if it is a listener on that port. */
static int64_t listener_of(char *line, int port)
{
    const char *columns[COLUMNS], *own_port;

    if (!split_row(line, columns) || strcmp(columns[STATE], "0A") != 0)
        return -1;
    own_port = strrchr(columns[LOCAL], ':');
    if (!own_port || strtol(own_port + 1, NULL, 16) != port)
        return -1;
    return strtoll(columns[UID], NULL, 10);
}

int64_t os_port_owner(int port)
{
    static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
    int64_t owner = -1;

    for (size_t i = 0; owner < 0 && i < ARRAY_LEN(tables); i++) {
        FILE *file = fopen(tables[i], "re");
        char line[512];

        while (file && owner < 0 && fgets(line, sizeof line, file))
            owner = listener_of(line, port);
        if (file)
            fclose(file);
    }
    return owner;
}

/* As the tables print it: words of the address in the machine's own order, then the port. */
static void print_address(const struct sockaddr_storage *address, bool as_mapped,
                          char out[ADDRESS_BYTES])
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;
    uint32_t words[4] = { 0, 0, htonl(0xffff), 0 };

    if (address->ss_family == AF_INET && !as_mapped) {
        snprintf(out, ADDRESS_BYTES, "%08X:%04X", four->sin_addr.s_addr, ntohs(four->sin_port));
        return;
    }
    if (address->ss_family == AF_INET)
        words[3] = four->sin_addr.s_addr;
    else
        memcpy(words, &six->sin6_addr, sizeof words);
    snprintf(out, ADDRESS_BYTES, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(address->ss_family == AF_INET ? four->sin_port : six->sin6_port));
}

/* The tables show a socket that no process holds any more as root's, without an inode: it has no
 * owner. */
static bool read_owner(char *line, const char *local, const char *remote, int64_t *ret_uid,
                       unsigned long long *ret_inode)
{
    const char *columns[COLUMNS];

    if (!split_row(line, columns) || strcmp(columns[LOCAL], local) != 0 ||
        strcmp(columns[REMOTE], remote) != 0)
        return false;
    *ret_inode = strtoull(columns[INODE], NULL, 10);
    *ret_uid = *ret_inode ? strtoll(columns[UID], NULL, 10) : -1;
    return true;
}

/* A reset takes the row out of the tables while they are read. */
static bool is_connected(int socket_fd)
{
    struct tcp_info info = { 0 };
    socklen_t length = sizeof info;

    return getsockopt(socket_fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

static void put_address(const struct sockaddr_storage *address, __be32 words[4], __be16 *port)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;

    if (address->ss_family == AF_INET)
        memcpy(words, &four->sin_addr, sizeof four->sin_addr);
    else
        memcpy(words, &six->sin6_addr, sizeof six->sin6_addr);
    *port = address->ss_family == AF_INET ? four->sin_port : six->sin6_port;
}

enum kernel_reply { NOT_ASKED, NO_SUCH_SOCKET, SOCKET_FOUND };

/* Asks for this one socket: the cost doesn't grow with how many there are. The kernel answers with
 * a listener of that port where there is no such connection. A socket that no process holds has no
 * inode. */
static enum kernel_reply ask_kernel(const struct sockaddr_storage *peer,
                                    const struct sockaddr_storage *own, int64_t *ret_uid,
                                    unsigned long long *ret_inode)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 request;
    } question = { .head = { .nlmsg_len = sizeof question,
                             .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                             .nlmsg_flags = NLM_F_REQUEST },
                   .request = { .sdiag_family = (uint8_t)peer->ss_family,
                                .sdiag_protocol = IPPROTO_TCP,
                                .idiag_states = ~0U,
                                .id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } };
    union {
        struct nlmsghdr head;
        struct {
            struct nlmsghdr head;
            struct inet_diag_msg found;
        } row;
        struct {
            struct nlmsghdr head;
            struct nlmsgerr why;
        } failure;
        char bytes[1024]; /* a row has attributes that we did not ask for */
    } reply;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t got = -1;

    put_address(peer, question.request.id.idiag_src, &question.request.id.idiag_sport);
    put_address(own, question.request.id.idiag_dst, &question.request.id.idiag_dport);
    if (fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question)
        got = recv(fd, &reply, sizeof reply, MSG_DONTWAIT);
    if (fd >= 0)
        close(fd);
    if (got >= (ssize_t)sizeof reply.row && reply.head.nlmsg_type == SOCK_DIAG_BY_FAMILY) {
        if (reply.row.found.id.idiag_dport != question.request.id.idiag_dport)
            return NO_SUCH_SOCKET;
        *ret_inode = reply.row.found.idiag_inode;
        *ret_uid = *ret_inode ? (int64_t)reply.row.found.idiag_uid : -1;
        return SOCKET_FOUND;
    }
    if (got >= (ssize_t)sizeof reply.failure && reply.head.nlmsg_type == NLMSG_ERROR &&
        reply.failure.why.error == -ENOENT)
        return NO_SUCH_SOCKET;
    return NOT_ASKED;
}

/* False: the kernel knows no such socket although the peer is still connected: it is on another
 * machine. Anything else is no proof of that, and gives uid -1. */
static bool find_owner(int socket_fd, int64_t *ret_uid, unsigned long long *ret_inode)
{
    /* a client may have come to an address of version 4 with a socket of version 6 */
    static const struct {
        const char *path;
        bool as_mapped;
    } tables[] = { { "/proc/net/tcp", false }, { "/proc/net/tcp6", true } };
    struct sockaddr_storage own = { 0 }, peer = { 0 };
    socklen_t own_length = sizeof own, peer_length = sizeof peer;
    bool is_found = false, is_unread = false;

    *ret_uid = -1;
    if (getsockname(socket_fd, (struct sockaddr *)&own, &own_length) != 0 ||
        getpeername(socket_fd, (struct sockaddr *)&peer, &peer_length) != 0)
        return true;
    switch (ask_kernel(&peer, &own, ret_uid, ret_inode)) {
    case SOCKET_FOUND:
        return true;
    case NO_SUCH_SOCKET:
        return !is_connected(socket_fd);
    case NOT_ASKED:
        break;
    }
    for (size_t i = 0; !is_found && i < ARRAY_LEN(tables); i++) {
        char local[ADDRESS_BYTES], remote[ADDRESS_BYTES], line[512];
        FILE *file = fopen(tables[i].path, "re");

        is_unread |= !file && errno != ENOENT && errno != EACCES; /* these last: a sandbox */
        print_address(&peer, tables[i].as_mapped, local);
        print_address(&own, tables[i].as_mapped, remote);
        while (file && !is_found && fgets(line, sizeof line, file))
            is_found = read_owner(line, local, remote, ret_uid, ret_inode);
        if (file)
            fclose(file);
    }
    return is_found || is_unread || !is_connected(socket_fd);
}

bool os_tcp_peer_user(int socket_fd, int64_t *ret_uid)
{
    unsigned long long inode = 0;

    return find_owner(socket_fd, ret_uid, &inode);
}

/* The process that was found last and the sockets that were seen there: a client usually has
 * several connections, and one with thousands of them must not be searched again for each. Its
 * directory stays open, which is never another process's. */
static struct holder {
    char pid[24]; /* "": none was found yet */
    DIR *files;   /* NULL: they can't be seen, as another user's or those of a hardened process */
    struct held {
        unsigned long long inode;
        long number;
    } * sockets;
    size_t count, capacity;
    int links_left;
} last_holder;

/* The inode of a descriptor; 0: it is no socket, or there is none. */
static unsigned long long socket_at(struct holder *holder, long number)
{
    char name[24], target[64];
    ssize_t length;

    if (!holder->files || holder->links_left-- <= 0)
        return 0;
    snprintf(name, sizeof name, "%ld", number);
    length = readlinkat(dirfd(holder->files), name, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    return strncmp(target, "socket:[", 8) == 0 ? strtoull(target + 8, NULL, 10) : 0;
}

static unsigned long long see(struct holder *holder, long number)
{
    unsigned long long inode = socket_at(holder, number);

    if (holder->count == holder->capacity) {
        holder->capacity = 2 * holder->capacity + 64;
        holder->sockets = mem_resize(holder->sockets, holder->capacity * sizeof *holder->sockets);
    }
    if (inode)
        holder->sockets[holder->count++] = (struct held){ inode, number };
    return inode;
}

/* Among those that were seen, or right behind the last: numbers are given in order. */
static bool holds_socket(struct holder *holder, unsigned long long inode)
{
    unsigned long long found = 0;
    long next = holder->count ? holder->sockets[holder->count - 1].number : 0;

    for (size_t i = holder->count; i-- > 0;) {
        if (holder->sockets[i].inode == inode)
            return socket_at(holder, holder->sockets[i].number) == inode;
    }
    do
        found = see(holder, ++next);
    while (found && found != inode);
    return found != 0;
}

static void forget_sockets(struct holder *holder)
{
    if (holder->files)
        closedir(holder->files);
    holder->files = NULL;
    holder->count = 0;
}

/* All that it has now. */
static bool search(struct holder *holder, const char *pid, int64_t uid, unsigned long long inode)
{
    char path[64];
    const struct dirent *entry;
    struct stat owner;

    forget_sockets(holder);
    if (pid != holder->pid)
        text_put(holder->pid, sizeof holder->pid, pid);
    snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
    holder->files = stat(path, &owner) == 0 && owner.st_uid == uid ? opendir(path) : NULL;
    while (holder->files && holder->links_left > 0 && (entry = readdir(holder->files)))
        if (isdigit((unsigned char)entry->d_name[0]))
            see(holder, strtol(entry->d_name, NULL, 10));
    return holds_socket(holder, inode);
}

/* Leaves the process in `last_holder`. */
static bool find_holder(int64_t uid, unsigned long long inode)
{
    struct holder *holder = &last_holder;
    const struct dirent *entry;
    DIR *processes = NULL;
    bool is_found;

    holder->links_left = LINKS_MAX;
    is_found = holds_socket(holder, inode) || search(holder, holder->pid, uid, inode);
    if (!is_found)
        processes = opendir("/proc");
    while (processes && !is_found && holder->links_left > 0 && (entry = readdir(processes)))
        is_found =
            isdigit((unsigned char)entry->d_name[0]) && search(holder, entry->d_name, uid, inode);
    if (processes)
        closedir(processes);
    if (!is_found) { /* what was searched last is not the one that was found last */
        forget_sockets(holder);
        holder->pid[0] = '\0';
    }
    return is_found;
}

bool os_tcp_peer_process(int socket_fd, int64_t *ret_uid, int64_t *ret_pid)
{
    unsigned long long inode = 0;
    bool is_known = find_owner(socket_fd, ret_uid, &inode) && *ret_uid >= 0;

    *ret_pid = is_known && find_holder(*ret_uid, inode) ? strtoll(last_holder.pid, NULL, 10) : 0;
    if (*ret_pid == 0 && !is_connected(socket_fd))
        *ret_pid = -1;
    return is_known;
}

/*
 * os.h - what is particular to the operating system; for Linux in os_linux*.c alone.
 */
#ifndef BASE_OS_H
#define BASE_OS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct text;

/* Before anything is opened: files for us alone, no core dumps, memory closed to other users. */
void os_harden(void);
/* So many files may be open, as far as the system lets a user raise it; never fewer than before. */
void os_allow_files(size_t count);

struct os_process {
    int64_t pid, parent;
    uint64_t start;      /* with the pid names one process for ever, pids alone are reused */
    bool leads_terminal; /* the first process of its terminal's session */
    char tty[64];        /* "/dev/pts/3"; "" without a controlling terminal */
};
bool os_process(int64_t pid, struct os_process *ret_process); /* false: gone */
bool os_is_alive(int64_t pid, uint64_t start);
enum { OS_NAME_BYTES = 64, OS_BOOT_BYTES = 37 };
/* What a process runs, each without its directory; "" where it is unknown. */
struct os_names {
    char program[OS_NAME_BYTES]; /* the executable */
    char title[OS_NAME_BYTES];   /* what it calls itself, the first word of it */
    char script[OS_NAME_BYTES];  /* its first argument that is not an option */
};
void os_process_names(int64_t pid, struct os_names *ret_names);
/* A process and its ancestors up to, and without, process 1. Returns how many. */
struct os_identity {
    int64_t pid;
    uint64_t start;
};
enum { OS_MAX_ANCESTORS = 128 };
size_t os_lineage(int64_t pid, struct os_identity out[OS_MAX_ANCESTORS]);
/* Differs after every boot and on every machine: pids and starts mean something within it. */
void os_boot_id(char out[OS_BOOT_BYTES]); /* "": unknown */
bool os_peer(int socket_fd, int64_t *ret_uid, int64_t *ret_pid);
/* Whose process is at the other end of a TCP connection within this machine; -1: it is gone, or
 * can't be looked up now. False: it is on another machine, or this one has no such tables. */
bool os_tcp_peer_user(int socket_fd, int64_t *ret_uid);
/* And which process; pid 0: unknown, -1: it has hung up. Slow: it looks at many processes. */
bool os_tcp_peer_process(int socket_fd, int64_t *ret_uid, int64_t *ret_pid);
/* What was written to a TCP socket and not yet acknowledged by the other side; -1: unknown. */
int64_t os_unacknowledged_bytes(int socket_fd);
int os_socket_error(int socket_fd); /* errno of what went wrong, once; 0: nothing */

/* Directory owned by us with mode 0700, made if missing (parents too). Refuses one that belongs to
 * another user or that others may write; `err` says how to fix it. */
bool os_private_directory(const char *path, struct error *err);
bool os_is_network_file_system(const char *path);
int64_t os_free_bytes(const char *path); /* -1: unknown */
/* Home of the user: HOME, else the password file. False: none. */
bool os_home(char *out, size_t size);
bool os_is_usual_home(const char *path);           /* what the password file says */
bool os_own_program(char *out, size_t size);       /* absolute path of this executable */
bool os_working_directory(char *out, size_t size); /* real path */
bool os_user_name(char *out, size_t size);

/* Functions of a library that is loaded when it is first needed and not before: a program that
 * never needs it starts no slower for it, and works where it is not installed. A static program has
 * them inside (-Dstatic=true). */
struct os_function {
    const char *name;
    size_t place;         /* of the pointer, in what the caller has for them */
    void (*linked)(void); /* OS_LINKED */
};
#ifdef SAYSO_STATIC
#define OS_LINKED(function) (void (*)(void))(function)
enum { OS_IS_STATIC = 1 };
#else
#define OS_LINKED(function) NULL
enum { OS_IS_STATIC = 0 };
#endif
/* False: it is not there (*ret_missing is NULL), or not this function of it. Never unloaded. */
bool os_load(const char *library, const struct os_function *functions, size_t count, void *out,
             const char **ret_missing);

/* Whole file, at most max_bytes. False with err not_found, unavailable or too_long. */
bool os_read_file(const char *path, size_t max_bytes, struct text *out, struct error *err);
/* A descriptor that is readable when someone has written to the file; -1 and errno: none. */
int os_watch_file(const char *path);
void os_take_changes(int watch); /* it isn't readable any more */
/* A key or token that only we and root can read. `err` is not_found or says how to fix it. */
bool os_private_file(const char *path, struct error *err);
/* Written beside, synced, renamed over: readers see the old file or the new one. Mode 0600. */
bool os_write_file(const char *path, const char *bytes, size_t length, struct error *err);

/* The same for a file with a mode of its own; `group` -1: whatever it gets. */
bool os_write_file_as(const char *path, const char *bytes, size_t length, unsigned mode,
                      int64_t group, struct error *err);
/* Never over a file that is there: then errno is EEXIST. */
bool os_rename_new(const char *from, const char *to);
/* Removes what killed writers of that file left beside it. The caller keeps other writers away. */
void os_drop_unfinished(const char *path);
/* The uid of the process that listens on a TCP port of this machine's loopback; -1: none, or it
 * can't be told. */
int64_t os_port_owner(int port);

/* Zeroed pages at a multiple of their size, a power of two; only what is touched is taken. */
void *os_map_aligned(size_t bytes);
void os_unmap(void *memory, size_t bytes);

/* What is free goes back to the system, page by page: for when a burst is over. */
void os_give_memory_back(void);

/* Many descriptors watched through one, which is readable whenever one of them is ready. */
enum os_events { OS_READABLE = 1, OS_WRITABLE = 2, OS_HUNG_UP = 4, OS_BROKEN = 8 };
enum { OS_POLLER_MAX = 256 };
struct os_ready {
    void *thing;
    unsigned events;
};
int os_poller_open(void); /* -1 and errno */
/* Instead of the events that were watched before, 0: none, these from now on. What is closed must
 * have been taken out. That it is OS_BROKEN is told of everything that is watched. */
bool os_poller_watch(int poller, int fd, unsigned before, unsigned events, void *thing);
/* Does not wait. Returns at most OS_POLLER_MAX; those left over come first the next time. */
int os_poller_take(int poller, struct os_ready *ready, int max);

enum os_lock { OS_LOCK_HELD, OS_LOCK_BUSY, OS_LOCK_FAILED };
/* Open-file-description lock; released by closing *ret_fd or by the process's end. */
enum os_lock os_lock_file(const char *path, int *ret_fd);
bool os_is_locked(const char *path); /* by any process; takes no lock */

enum { OS_LOG_BYTES = 1048576 };
/* To append to, 0600. Without room for so many bytes more it is first put aside as PATH.1, the one
 * old log that is kept. -1 and errno where it can't be opened or is no file. */
int os_open_log(const char *path, size_t room_bytes);

/*
 * Starts `program arguments…` as a daemon: double fork, own session, / as directory, only
 * stdin=/dev/null, stdout and stderr to log_path, signals reset, only the named environment
 * variables passed on (a name ending in * stands for all that begin so). The child gets a pipe in
 * SAYSO_READY_FD. The other end is returned, for the caller to close, or -1 and `err`; when it can
 * be read, os_hear_daemon tells whether it serves, and os_blame_daemon what it said instead.
 */
enum { /* the first byte of what it says; why not follows */
       OS_DAEMON_SERVES = 'r',
       OS_DAEMON_SAYS_WHY = 'e',
};
enum os_daemon { OS_DAEMON_STARTING, OS_DAEMON_READY, OS_DAEMON_FAILED };
struct os_daemon_words {
    char bytes[1600]; /* the first one, and error_pack's */
    size_t used;
};
int os_begin_daemon(const char *program, const char *const *arguments, const char *log_path,
                    const char *const *environment_names, struct error *err);
enum os_daemon os_hear_daemon(int ready_fd, struct os_daemon_words *words);
/* What it said behind the first byte. */
void os_read_why(const struct os_daemon_words *words, struct error *err);
/* False, and `err` is why it failed. */
bool os_blame_daemon(const struct os_daemon_words *words, const char *log_path, struct error *err);
/* Starts a program that outlives us: own session, /dev/null for all three streams, no other file,
 * the named environment variables, the usual limit of open files. False: there is no process. */
bool os_start_detached(const char *program, const char *const *arguments,
                       const char *const *environment_names);
/* Whether it was opened, or why not: we are behind SSH, in a container, or without a screen. */
enum os_browser { OS_BROWSER_OPENED, OS_BROWSER_REMOTE, OS_BROWSER_CONTAINED, OS_BROWSER_NONE };
enum os_browser os_open_browser(const char *url); /* NULL: opens none, says what would be done */
/* On the person's desktop; waits for it, up to a few seconds. */
enum os_notify { OS_NOTIFY_SHOWN, OS_NOTIFY_NO_LIBRARY, OS_NOTIFY_NO_BUS, OS_NOTIFY_REFUSED };
enum os_notify os_notify_desktop(const char *title, const char *body, bool is_urgent);
/* The listening unix socket that a service manager passed to this very process, and its path; -1:
 * none. To be called once. False: something else was passed; `err` says how to fix it. */
bool os_passed_socket(int *ret_fd, char *path, size_t path_size, struct error *err);
void os_turn_away(int listening_fd); /* closes connections that wait there */
/* "READY=1" and the like; false where no service manager wants to hear it. */
bool os_tell_manager(const char *state);
/* In the daemon, once. NULL: it or another one serves; else why not, as error_pack writes it. */
void os_tell_starter(const struct text *failure);

#endif

/* checks_around.c - what is around the hub: files others can read, a sandbox, which program runs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "cli/doctor/doctor.h"
#include "settings/settings.h"

enum { PATH_BYTES = PLACE_PATH_BYTES + 256 };

/* A file of ours that somebody else owns, may change, or may read. False: reported. */
static bool judge_file(struct doctor *doctor, const char *path)
{
    struct stat found;
    char number[24];

    if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return true; /* not there, or judged by whoever uses it */
    if (found.st_uid != geteuid()) {
        snprintf(number, sizeof number, "%lld", (long long)found.st_uid);
        doctor_fault(doctor, TEXT_FOUND_OWNER, TEXT_MEND_FILE_OWNER, "path", path, "owner", number);
        return false;
    }
    if (found.st_mode & 077) {
        snprintf(number, sizeof number, "%03o", (unsigned)found.st_mode & 0777);
        doctor_report(doctor, found.st_mode & 022 ? DOCTOR_FAULT : DOCTOR_WARNING,
                      TEXT_FOUND_FILE_MODE, TEXT_MEND_FILE_MODE, "path", path, "mode", number);
        return false;
    }
    return true;
}

void check_files(struct doctor *doctor)
{
    char wal[PATH_BYTES], old_log[PATH_BYTES];
    const char *const files[] = { doctor->place.database, wal,     doctor->place.settings,
                                  doctor->place.log,      old_log, doctor->place.note };
    bool is_well = true;

    if (!doctor->has_place)
        return;
    snprintf(wal, sizeof wal, "%s-wal", doctor->place.database);
    snprintf(old_log, sizeof old_log, "%s.1", doctor->place.log);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        is_well = judge_file(doctor, files[i]) && is_well;
    if (is_well)
        doctor_ok(doctor, TEXT_FOUND_FILES);
}

/* Whether a socket of this kind may be made: sandboxes of agents' shells forbid it. */
static bool may_connect(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno != EPERM && errno != EACCES && errno != EAFNOSUPPORT;
    close(fd);
    return true;
}

static bool may_write(const char *path)
{
    return access(path, W_OK) == 0 || errno == ENOENT;
}

static bool is_terminal_forbidden(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    bool is_forbidden = fd < 0 && (errno == EPERM || errno == EACCES);

    if (fd >= 0)
        close(fd);
    return is_forbidden;
}

void check_sandbox(struct doctor *doctor)
{
    const char *path = doctor->place.data;

    if (!may_connect(AF_UNIX))
        doctor_fault(doctor, TEXT_FOUND_SANDBOX_SOCKET, TEXT_MEND_SANDBOX);
    else if (doctor->has_place && !may_write(path))
        doctor_fault(doctor, TEXT_FOUND_SANDBOX_READ_ONLY, TEXT_MEND_SANDBOX_READ_ONLY, "path",
                     path);
    else if (!may_connect(AF_INET))
        doctor_warning(doctor, TEXT_FOUND_SANDBOX_NET, TEXT_MEND_SANDBOX);
    else if (is_terminal_forbidden())
        doctor_warning(doctor, TEXT_FOUND_SANDBOX_TTY, TEXT_MEND_SANDBOX_TTY);
    else
        doctor_ok(doctor, TEXT_FOUND_SANDBOX_NONE);
}

/* With the portal and the terminal switched off an ask reaches only who has an inbox open. */
void check_channels(struct doctor *doctor)
{
    struct settings *settings = settings_new();
    bool has_portal, has_terminal;

    settings_load(settings, doctor->has_place ? doctor->place.settings : NULL);
    has_portal = settings_is_on(settings, SETTING_PORTAL);
    has_terminal = settings_is_on(settings, SETTING_TERMINAL);
    settings_free(settings);
    if (!has_portal && !has_terminal)
        doctor_warning(doctor, TEXT_FOUND_CHANNELS_NONE, TEXT_MEND_CHANNELS_NONE);
    else
        doctor_ok(doctor, has_portal && has_terminal ? TEXT_FOUND_CHANNELS
                          : has_portal               ? TEXT_FOUND_CHANNELS_PORTAL
                                                     : TEXT_FOUND_CHANNELS_TERMINAL);
}

bool doctor_find_program(const char *name, char out[DOCTOR_PATH_BYTES])
{
    char *path = mem_text(getenv("PATH") ? getenv("PATH") : ""), *rest = path, *directory;
    bool is_there = false;

    while (!is_there && (directory = strsep(&rest, ":"))) {
        snprintf(out, DOCTOR_PATH_BYTES, "%s/%s", directory, name);
        is_there = access(out, X_OK) == 0;
    }
    free(path);
    return is_there;
}

void check_program(struct doctor *doctor)
{
    char own[DOCTOR_PATH_BYTES] = "", first[DOCTOR_PATH_BYTES];
    struct stat ours, theirs;

    os_own_program(own, sizeof own);
    if (!doctor_find_program("sayso", first))
        doctor_ok(doctor, TEXT_FOUND_PROGRAM_NOT_IN_PATH, "path", own);
    else if (stat(own, &ours) == 0 && stat(first, &theirs) == 0 &&
             (ours.st_ino != theirs.st_ino || ours.st_dev != theirs.st_dev))
        doctor_warning(doctor, TEXT_FOUND_PROGRAM_OTHER, TEXT_MEND_PROGRAM_OTHER, "path", own,
                       "other", first);
    else
        doctor_ok(doctor, TEXT_FOUND_PROGRAM, "path", own, "version", SAYSO_VERSION);
}

/* What a hub put aside because it was damaged still has asks and answers in it. */
bool doctor_find_aside(const struct doctor *doctor, char out[DOCTOR_PATH_BYTES])
{
    const char *name = strrchr(doctor->place.database, '/') + 1;
    DIR *folder = opendir(doctor->place.data);
    const struct dirent *entry;
    bool is_there = false;

    while (folder && !is_there && (entry = readdir(folder))) {
        is_there = strncmp(entry->d_name, name, strlen(name)) == 0 &&
                   strncmp(entry->d_name + strlen(name), ".damaged-", strlen(".damaged-")) == 0;
        if (is_there)
            snprintf(out, DOCTOR_PATH_BYTES, "%s/%.255s", doctor->place.data, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return is_there;
}

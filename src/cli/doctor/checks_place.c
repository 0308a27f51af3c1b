/* checks_place.c - directories, disk, clock, settings, and where a person can be reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "settings/settings.h"

enum {
    MEBIBYTE = 1048576,
    LOW_MEBIBYTES = 200,
    LOWEST_MEBIBYTES = 20,
    CLOCK_SLACK_S = 120,
    MADE_IN_2026 = 1767225600, /* UTC seconds: no clock that is right says less */
};

/* As os_private_directory judges it, without mending it. False: something was reported. */
static bool judge_directory(struct doctor *doctor, const char *path)
{
    struct stat found;
    char number[24];

    if (lstat(path, &found) != 0)
        return true; /* made when it is needed */
    if (!S_ISDIR(found.st_mode)) {
        doctor_fault(doctor, TEXT_FOUND_NOT_DIRECTORY, TEXT_MEND_NOT_DIRECTORY, "path", path);
        return false;
    }
    if (found.st_uid != geteuid()) {
        snprintf(number, sizeof number, "%lld", (long long)found.st_uid);
        doctor_fault(doctor, TEXT_FOUND_OWNER, TEXT_MEND_OWNER, "path", path, "owner", number);
        return false;
    }
    if (found.st_mode & 077) { /* others who may only read are shut out by the next start */
        snprintf(number, sizeof number, "%03o", (unsigned)found.st_mode & 0777);
        doctor_report(doctor, found.st_mode & 022 ? DOCTOR_FAULT : DOCTOR_WARNING, TEXT_FOUND_MODE,
                      TEXT_MEND_MODE, "path", path, "mode", number);
        return false;
    }
    return true;
}

void check_data(struct doctor *doctor)
{
    const char *path = doctor->place.data;

    if (!doctor->has_place) {
        doctor_fault(doctor, TEXT_FOUND_NO_HOME, TEXT_MEND_NO_HOME);
        return;
    }
    if (!judge_directory(doctor, path))
        return;
    if (access(path, F_OK) != 0)
        doctor_ok(doctor, TEXT_FOUND_NOT_YET, "path", path);
    else if (os_is_network_file_system(path))
        doctor_fault(doctor, TEXT_FOUND_NETWORK, TEXT_MEND_NETWORK, "path", path);
    else
        doctor_ok(doctor, TEXT_FOUND_AT, "path", path);
}

void check_socket(struct doctor *doctor)
{
    const char *given = getenv("XDG_RUNTIME_DIR");
    char directory[PLACE_PATH_BYTES], path[PLACE_PATH_BYTES + 32];

    if (!doctor->has_place || !place_socket_name(&doctor->place, directory, path, NULL))
        return;
    if (!judge_directory(doctor, directory))
        return;
    if (strlen(path) > PLACE_SOCKET_BYTES)
        doctor_fault(doctor, TEXT_FOUND_SOCKET_LONG, TEXT_MEND_SOCKET_LONG, "count",
                     say_number((int64_t)strlen(path)), "most", say_number(PLACE_SOCKET_BYTES));
    else if (given && *given && strncmp(directory, given, strlen(given)) != 0)
        doctor_warning(doctor, TEXT_FOUND_RUNTIME_UNUSED, TEXT_MEND_MODE, "path", given);
    else
        doctor_ok(doctor, TEXT_FOUND_AT, "path", path);
}

void check_disk(struct doctor *doctor)
{
    const char *path = doctor->place.data;
    char *existing;
    int64_t free_bytes, mebibytes;

    if (!doctor->has_place)
        return;
    existing = mem_text(path);
    while (access(existing, F_OK) != 0 && strrchr(existing, '/') > existing)
        *strrchr(existing, '/') = '\0';
    free_bytes = os_free_bytes(existing);
    free(existing);
    mebibytes = free_bytes / MEBIBYTE;
    if (free_bytes < 0)
        doctor_warning(doctor, TEXT_FOUND_DISK_UNKNOWN, DOCTOR_NO_REMEDY);
    else if (mebibytes < LOW_MEBIBYTES)
        doctor_report(doctor, mebibytes < LOWEST_MEBIBYTES ? DOCTOR_FAULT : DOCTOR_WARNING,
                      TEXT_FOUND_DISK_LOW, TEXT_MEND_DISK_LOW, "count", say_number(mebibytes),
                      "path", path);
    else
        doctor_ok(doctor, TEXT_FOUND_DISK, "count", say_number(mebibytes));
}

void check_clock(struct doctor *doctor)
{
    const char *const files[] = { doctor->place.database, doctor->place.note, doctor->place.lock };
    time_t now = time(NULL);
    struct tm parts;
    char words[64];
    struct stat found;

    gmtime_r(&now, &parts);
    strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (now < MADE_IN_2026) {
        doctor_fault(doctor, TEXT_FOUND_CLOCK_EARLY, TEXT_MEND_CLOCK, "time", words);
        return;
    }
    for (size_t i = 0; doctor->has_place && i < ARRAY_LEN(files); i++) {
        if (stat(files[i], &found) == 0 && found.st_mtime > now + CLOCK_SLACK_S) {
            doctor_warning(doctor, TEXT_FOUND_CLOCK_BACK, TEXT_MEND_CLOCK, "time", words, "path",
                           files[i]);
            return;
        }
    }
    doctor_ok(doctor, TEXT_FOUND_CLOCK, "time", words);
}

void check_settings(struct doctor *doctor)
{
    struct settings *settings = settings_new();
    const char *path = doctor->place.settings;

    settings_load(settings, doctor->has_place ? path : NULL);
    for (size_t i = 0; i < settings_warning_count(settings); i++) {
        const struct setting_warning *warning = settings_warning(settings, i);
        bool is_saved = warning->source == SETTING_SAVED;
        struct text words = { 0 };

        settings_describe_warning(settings, i18n_language(), warning, &words);
        doctor_report(doctor, settings_is_fatal(settings, warning) ? DOCTOR_FAULT : DOCTOR_WARNING,
                      TEXT_FOUND_SETTINGS_WRONG,
                      is_saved ? TEXT_MEND_SETTINGS : TEXT_MEND_ENVIRONMENT, "message",
                      text_string(&words), "path", path);
        text_release(&words);
    }
    if (settings_warning_count(settings) == 0)
        doctor_ok(doctor, access(path, F_OK) == 0 ? TEXT_FOUND_AT : TEXT_FOUND_NOT_YET, "path",
                  path);
    settings_free(settings);
}

/* BROWSER is a program, or several with : between them; each may have words behind it. */
static bool is_browser_there(const char *browser)
{
    char *copy = mem_text(browser), *rest = copy, *one, room[DOCTOR_PATH_BYTES];
    bool is_there = false;

    while (!is_there && (one = strsep(&rest, ":"))) {
        one[strcspn(one, " ")] = '\0';
        is_there =
            *one && (strchr(one, '/') ? access(one, X_OK) == 0 : doctor_find_program(one, room));
    }
    free(copy);
    return is_there;
}

void check_screen(struct doctor *doctor)
{
    const char *browser = getenv("BROWSER");
    bool has_display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    char room[DOCTOR_PATH_BYTES];
    bool has_browser =
        (browser && *browser) || (has_display && doctor_find_program("xdg-open", room));
    bool has_terminal = isatty(STDIN_FILENO) || isatty(STDERR_FILENO);

    if (browser && *browser && !is_browser_there(browser))
        doctor_warning(doctor, TEXT_FOUND_SCREEN_GONE, TEXT_MEND_SCREEN_GONE, "program", browser);
    else if (!has_browser && !has_terminal)
        doctor_warning(doctor, TEXT_FOUND_SCREEN_NONE, TEXT_MEND_SCREEN_NONE);
    else
        doctor_ok(doctor, !has_browser    ? TEXT_FOUND_SCREEN_TERMINAL
                          : !has_terminal ? TEXT_FOUND_SCREEN_BROWSER
                                          : TEXT_FOUND_SCREEN_BOTH);
}

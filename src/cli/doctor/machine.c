/* machine.c - what is around the hub: program, files, disk, clock, settings, sandbox, screen,
 * and who else starts this program. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/hub_call.h"
#include "cli/install/config_file.h"
#include "cli/install/entry.h"
#include "settings/settings.h"

/* A directory or file of ours that another user owns, may change, or may read. Judged like
 * os_private_directory, but nothing is fixed. False: reported. */
static bool judge(struct doctor *doctor, const char *path, bool is_file)
{
    struct stat found;
    char mode[24];

    if (lstat(path, &found) != 0 || (is_file && !S_ISREG(found.st_mode)))
        return true; /* made when it is needed, or judged where it is used */
    snprintf(mode, sizeof mode, "%03o", (unsigned)found.st_mode & 0777);
    if (!is_file && !S_ISDIR(found.st_mode))
        doctor_fault(doctor, TEXT_FOUND_NOT_DIRECTORY, TEXT_MEND_NOT_DIRECTORY, "path", path);
    else if (found.st_uid != geteuid())
        doctor_fault(doctor, TEXT_FOUND_OWNER, is_file ? TEXT_MEND_FILE_OWNER : TEXT_MEND_OWNER,
                     "path", path, "owner", TEXT_NUMBER(found.st_uid));
    else if (found.st_mode & 077) /* who may only read a directory is shut out by the next start */
        doctor_report(doctor, found.st_mode & 022 ? DOCTOR_FAULT : DOCTOR_WARNING,
                      is_file ? TEXT_FOUND_FILE_MODE : TEXT_FOUND_MODE,
                      is_file ? TEXT_MEND_FILE_MODE : TEXT_MEND_MODE, "path", path, "mode", mode);
    else
        return true;
    return false;
}

void check_files(struct doctor *doctor)
{
    char wal[DOCTOR_PATH_BYTES], old_log[DOCTOR_PATH_BYTES];
    const char *const files[] = { doctor->location.database, wal,     doctor->location.settings,
                                  doctor->location.log,      old_log, doctor->location.record };
    unsigned before = doctor_troubles(doctor);

    snprintf(wal, sizeof wal, "%s-wal", doctor->location.database);
    snprintf(old_log, sizeof old_log, "%s.1", doctor->location.log);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        judge(doctor, files[i], true);
    if (doctor_troubles(doctor) == before)
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
    const char *path = doctor->location.data;
    bool may_write = access(path, W_OK) == 0 || errno == ENOENT;

    if (!may_connect(AF_UNIX))
        doctor_fault(doctor, TEXT_FOUND_SANDBOX_SOCKET, TEXT_MEND_SANDBOX);
    else if (doctor->has_location && !may_write)
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
    struct settings *settings = call_settings();
    bool has_portal = settings_is_on(settings, SETTING_PORTAL);
    bool has_terminal = settings_is_on(settings, SETTING_TERMINAL);

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

/* By where the program is, and by what a package manager keeps there. The first that fits. */
static const struct {
    const char *within, *proof;
    enum text_id found;
} installed[] = {
    { "/node_modules/", "/", TEXT_INSTALLED_NPM },
    { "/server/", "/", TEXT_INSTALLED_PLUGIN },
    { "/sayso/bin/sayso", "/", TEXT_INSTALLED_COPY },
    { "/usr/bin/sayso", "/var/lib/dpkg/info/sayso.list", TEXT_INSTALLED_DEB },
    { "/usr/bin/sayso", "/var/lib/pacman/local", TEXT_INSTALLED_PACMAN },
    { "/usr/bin/sayso", "/usr/lib/sysimage/rpm", TEXT_INSTALLED_RPM },
    { "/usr/bin/sayso", "/var/lib/rpm", TEXT_INSTALLED_RPM },
    { "", "/", OS_IS_STATIC ? TEXT_INSTALLED_FILE : TEXT_INSTALLED_BUILT },
};

void check_installed(struct doctor *doctor)
{
    char own[DOCTOR_PATH_BYTES] = "";
    size_t row = 0;

    os_own_program(own, sizeof own);
    while (!strstr(own, installed[row].within) || access(installed[row].proof, F_OK) != 0)
        row++;
    doctor_ok(doctor, strcmp(own, "/sayso") == 0 ? TEXT_INSTALLED_IMAGE : installed[row].found);
}

enum {
    MEBIBYTE = 1048576,
    LOW_MEBIBYTES = 200,
    LOWEST_MEBIBYTES = 20,
    CLOCK_SLACK_S = 120,
    MADE_IN_2026 = 1767225600, /* UTC seconds: no clock that is right says less */
};

void check_data(struct doctor *doctor)
{
    const char *path = doctor->location.data;

    if (!doctor->has_location)
        doctor_fault(doctor, TEXT_FOUND_NO_HOME, TEXT_MEND_NO_HOME);
    else if (!judge(doctor, path, false))
        return;
    else if (access(path, F_OK) != 0)
        doctor_ok(doctor, TEXT_FOUND_NOT_YET, "path", path);
    else if (os_is_network_file_system(path))
        doctor_fault(doctor, TEXT_FOUND_NETWORK, TEXT_MEND_NETWORK, "path", path);
    else
        doctor_ok(doctor, TEXT_FOUND_AT, "path", path);
}

void check_socket(struct doctor *doctor)
{
    const char *given = getenv("XDG_RUNTIME_DIR");
    char directory[LOCATION_PATH_BYTES], path[LOCATION_PATH_BYTES + 32];

    if (!location_socket_name(&doctor->location, directory, path, NULL) ||
        !judge(doctor, directory, false))
        return;
    if (strlen(path) > LOCATION_SOCKET_BYTES)
        doctor_fault(doctor, TEXT_FOUND_SOCKET_LONG, TEXT_MEND_SOCKET_LONG, "count",
                     TEXT_NUMBER((int64_t)strlen(path)), "most",
                     TEXT_NUMBER(LOCATION_SOCKET_BYTES));
    else if (given && *given && strncmp(directory, given, strlen(given)) != 0)
        doctor_warning(doctor, TEXT_FOUND_RUNTIME_UNUSED, TEXT_MEND_MODE, "path", given);
    else
        doctor_ok(doctor, TEXT_FOUND_AT, "path", path);
}

void check_disk(struct doctor *doctor)
{
    const char *path = doctor->location.data;
    char *existing = mem_text(path);
    int64_t free_bytes, mebibytes;

    while (access(existing, F_OK) != 0 && strrchr(existing, '/') > existing)
        *strrchr(existing, '/') = '\0';
    free_bytes = os_free_bytes(existing);
    free(existing);
    mebibytes = free_bytes / MEBIBYTE;
    if (free_bytes < 0)
        doctor_warning(doctor, TEXT_FOUND_DISK_UNKNOWN, DOCTOR_NO_REMEDY);
    else if (mebibytes < LOW_MEBIBYTES)
        doctor_report(doctor, mebibytes < LOWEST_MEBIBYTES ? DOCTOR_FAULT : DOCTOR_WARNING,
                      TEXT_FOUND_DISK_LOW, TEXT_MEND_DISK_LOW, "count", TEXT_NUMBER(mebibytes),
                      "path", path);
    else
        doctor_ok(doctor, TEXT_FOUND_DISK, "count", TEXT_NUMBER(mebibytes));
}

void check_clock(struct doctor *doctor)
{
    const char *const files[] = { doctor->location.database, doctor->location.record,
                                  doctor->location.lock };
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
    for (size_t i = 0; doctor->has_location && i < ARRAY_LEN(files); i++) {
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
    struct settings *settings = call_settings();
    const char *path = doctor->location.settings;

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

enum { UNIT_LINE_BYTES = 4096 };

/* "PreToolUse" as "pre_tool_use". */
static void add_snake(struct text *out, const char *name)
{
    for (const char *at = name; *at; at++) {
        bool is_capital = *at >= 'A' && *at <= 'Z';

        if (is_capital && at > name)
            text_add_char(out, '_');
        text_add_char(out, is_capital ? (char)(*at + 'a' - 'A') : *at);
    }
}

/* What Codex keeps of a hook it trusts: a hash of canonical JSON (openai/codex, codex-rs/hooks). */
static void hash_hook(const char *event, const struct json *item, char out[HASH_HEX_BYTES])
{
    const struct json *hook = json_item(json_member(item, "hooks"), 0);
    char *matcher = json_encode(json_member(item, "matcher"));
    char *command = json_encode(json_member(hook, "command"));
    char *identity = mem_format(
        "{\"event_name\":\"%s\",\"hooks\":[{\"async\":false,\"command\":%s,"
        "\"timeout\":%lld,\"type\":\"command\"}],\"matcher\":%s}",
        event, command, (long long)json_member_integer(hook, "timeout", HOOK_TIMEOUT_S), matcher);
    uint8_t hash[HASH_BYTES];

    hash_bytes(identity, strlen(identity), hash);
    hash_hex(hash, HASH_BYTES, out);
    free(identity);
    free(command);
    free(matcher);
}

/* Whether Codex runs the hook: it passes over one that was not reviewed as it is now, or was turned
 * off. It keeps that in its configuration, by the file of the hooks and the place in it. */
static bool is_trusted(const struct client *client, const struct config_file *hooks,
                       const char *name, enum hook_use use, const struct json *item)
{
    struct config_path list = hook_list(client, use, 0).path;
    struct text snake = { 0 };
    struct config_path path = { .keys = { "hooks", "state" }, .count = 3 };
    struct json *items = client->hook.format->find(&hooks->bytes, &list), *state = NULL;
    char config[CLIENT_PATH_BYTES], hash[HASH_HEX_BYTES], *key;
    struct config_file file = { 0 };
    const char *trusted;
    size_t index = 0;
    bool is_so;

    while (index < json_length(items) && !json_same(json_item(items, index), item))
        index++;
    add_snake(&snake, hook_event_at(client, use, 0)->name);
    path.keys[2] = key = mem_format("%s:%s:%zu:0", name, text_string(&snake), index);
    if (client_file(client, false, config, NULL) && config_file_read(config, false, &file, NULL) &&
        client->format->check(&file.bytes, NULL))
        state = client->format->find(&file.bytes, &path);
    hash_hook(text_string(&snake), item, hash);
    trusted = json_member_text(state, "trusted_hash");
    is_so = trusted && strncmp(trusted, "sha256:", 7) == 0 && strcmp(trusted + 7, hash) == 0 &&
            (!json_member(state, "enabled") || json_is_true(json_member(state, "enabled")));
    free(key);
    text_release(&snake);
    json_free(state);
    json_free(items);
    config_file_release(&file);
    return is_so;
}

/* What is found of the gate's hook, and of those that bring prompts. */
static const struct {
    enum text_id found, gone, mend;
} hook_words[] = {
    [HOOK_GATE] = { TEXT_FOUND_HOOK, TEXT_FOUND_HOOK_GONE, TEXT_MEND_HOOK },
    [HOOK_PROMPTS] = { TEXT_FOUND_PROMPTS, TEXT_FOUND_PROMPTS_GONE, TEXT_MEND_PROMPTS },
};

/* False: this client has no such hook of ours, or its file can't be read, which check_clients says
 * where it is the client's own. */
static bool judge_hook(struct doctor *doctor, const struct client *client, enum hook_use use)
{
    struct config_file file = { 0 };
    struct config_list ours = hook_list(client, use, 0);
    char name[CLIENT_PATH_BYTES], *program = NULL;
    struct json *item = NULL;
    bool is_there;

    if (hook_file(client, false, name, NULL) && access(name, F_OK) == 0 &&
        config_file_read(name, false, &file, NULL) && ours.format->check(&file.bytes, NULL))
        item = config_list_find(&ours, &file.bytes);
    is_there = item != NULL;
    if (is_there)
        program = hook_program(client, use, item);
    if (program && program[0] == '/' && access(program, X_OK) != 0)
        doctor_fault(doctor, hook_words[use].gone, hook_words[use].mend, "client", client->title,
                     "program", program, "name", client->name);
    else if (program && client->hook.needs_trust && !is_trusted(client, &file, name, use, item))
        doctor_fault(doctor, TEXT_FOUND_HOOK_UNTRUSTED, TEXT_MEND_HOOK_UNTRUSTED, "client",
                     client->title);
    else if (program)
        doctor_ok(doctor, hook_words[use].found, "client", client->title, "file", name);
    free(program);
    json_free(item);
    config_file_release(&file);
    return is_there;
}

void check_hooks(struct doctor *doctor)
{
    static const enum hook_use uses[] = { HOOK_GATE, HOOK_PROMPTS };
    bool has_any = false;

    for (size_t i = 0; i < client_count() * ARRAY_LEN(uses); i++) {
        const struct client *client = client_at(i / ARRAY_LEN(uses));
        enum hook_use use = uses[i % ARRAY_LEN(uses)];

        if (hook_is_known(client, use)) /* its first event says what is so of all */
            has_any = judge_hook(doctor, client, use) || has_any;
    }
    if (!has_any)
        doctor_ok(doctor, TEXT_FOUND_HOOKS_NONE);
}

/* The program of "ExecStart=-/path/to/sayso serve": prefixes and quotes are not part of it. */
static bool read_program(const char *line, char out[UNIT_LINE_BYTES])
{
    static const char key[] = "ExecStart";
    size_t length;

    line += strspn(line, " \t");
    if (strncmp(line, key, sizeof key - 1) != 0)
        return false;
    line += sizeof key - 1;
    line += strspn(line, " \t");
    if (*line++ != '=')
        return false;
    line += strspn(line, " \t-@:+!");
    length = *line == '"' || *line == '\'' ? strcspn(line + 1, *line == '"' ? "\"\n" : "'\n")
                                           : strcspn(line, " \t\n");
    line += *line == '"' || *line == '\'';
    snprintf(out, UNIT_LINE_BYTES, "%.*s", (int)length, line);
    return length > 0;
}

/* The last line counts, as for the manager. False: no such unit, or it starts nothing. */
static bool read_unit(const char *path, char program[UNIT_LINE_BYTES])
{
    char line[UNIT_LINE_BYTES];
    bool is_found = false;
    struct stat found;
    FILE *file;

    if (stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        is_found = read_program(line, program) || is_found;
    if (file)
        fclose(file);
    return is_found;
}

/* Where a user's manager looks, strongest first. */
static void add_units(struct text *out)
{
    static const struct {
        const char *variable, *fallback; /* below the home directory */
    } places[] = { { "XDG_CONFIG_HOME", ".config" }, { "XDG_DATA_HOME", ".local/share" } };
    char home[CLIENT_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *given = getenv(places[i].variable);

        if (given && given[0] == '/')
            text_add_format(out, "%s", given);
        else if (os_home(home, sizeof home))
            text_add_format(out, "%s/%s", home, places[i].fallback);
        text_add_text(out, "/systemd/user/sayso.service\n");
    }
    text_add_text(out, "/etc/systemd/user/sayso.service\n"
                       "/usr/local/lib/systemd/user/sayso.service\n"
                       "/usr/lib/systemd/user/sayso.service\n");
}

void check_service(struct doctor *doctor)
{
    char program[UNIT_LINE_BYTES];
    struct text units = { 0 };
    const char *unit = NULL;

    add_units(&units);
    for (char *next = NULL, *at = strtok_r(units.bytes, "\n", &next); at && !unit;
         at = strtok_r(NULL, "\n", &next)) {
        if (read_unit(at, program))
            unit = at;
    }
    if (!unit)
        doctor_ok(doctor, TEXT_FOUND_SERVICE_NONE);
    else if (program[0] == '/' && access(program, X_OK) != 0)
        doctor_fault(doctor, TEXT_FOUND_SERVICE_GONE, TEXT_MEND_SERVICE, "unit", unit, "program",
                     program);
    else
        doctor_ok(doctor, TEXT_FOUND_SERVICE, "unit", unit, "program", program);
    text_release(&units);
}

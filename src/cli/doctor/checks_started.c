/* checks_started.c - who else starts this program: clients' hooks, the service manager. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "cli/doctor/doctor.h"
#include "cli/install/config_file.h"
#include "cli/install/config_text.h"
#include "cli/install/hook.h"

enum { UNIT_LINE_BYTES = 4096 };

/* False: this client has no hook of ours, or its file can't be read, which check_clients says where
 * it is the client's own. */
static bool judge_hook(struct doctor *doctor, const struct client *client, const struct hook *hook)
{
    struct config_file file = { 0 };
    char name[CLIENT_PATH_BYTES], *program = NULL;
    struct json *item = NULL;
    struct error err;
    bool is_there;

    if (hook_file(hook, false, name, NULL) && access(name, F_OK) == 0 &&
        config_file_read(name, false, &file, &err) && hook->format->check(&file.bytes, &err))
        item = hook_find_item(hook, &file.bytes);
    is_there = item != NULL;
    if (is_there)
        program = hook_program(hook, item);
    if (program && program[0] == '/' && access(program, X_OK) != 0)
        doctor_report(doctor, DOCTOR_FAULT, TEXT_FOUND_HOOK_GONE, TEXT_MEND_HOOK, "client",
                      client->title, "program", program, "name", client->name, NULL);
    else if (program)
        doctor_report(doctor, DOCTOR_OK, TEXT_FOUND_HOOK, DOCTOR_NO_REMEDY, "client", client->title,
                      "file", name, NULL);
    free(program);
    json_free(item);
    config_file_release(&file);
    return is_there;
}

void check_hooks(struct doctor *doctor)
{
    bool has_any = false;

    for (size_t i = 0; i < client_count(); i++) {
        const struct hook *hook = hook_find(client_at(i));

        if (hook && judge_hook(doctor, client_at(i), hook))
            has_any = true;
    }
    if (!has_any)
        doctor_report(doctor, DOCTOR_OK, TEXT_FOUND_HOOKS_NONE, DOCTOR_NO_REMEDY, NULL);
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
        const char *variable, *otherwise; /* below the home directory */
    } places[] = { { "XDG_CONFIG_HOME", ".config" }, { "XDG_DATA_HOME", ".local/share" } };
    char home[CLIENT_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const char *given = getenv(places[i].variable);

        if (given && given[0] == '/')
            text_add_format(out, "%s", given);
        else if (os_home(home, sizeof home))
            text_add_format(out, "%s/%s", home, places[i].otherwise);
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
        doctor_report(doctor, DOCTOR_OK, TEXT_FOUND_SERVICE_NONE, DOCTOR_NO_REMEDY, NULL);
    else if (program[0] == '/' && access(program, X_OK) != 0)
        doctor_report(doctor, DOCTOR_FAULT, TEXT_FOUND_SERVICE_GONE, TEXT_MEND_SERVICE, "unit",
                      unit, "program", program, NULL);
    else
        doctor_report(doctor, DOCTOR_OK, TEXT_FOUND_SERVICE, DOCTOR_NO_REMEDY, "unit", unit,
                      "program", program, NULL);
    text_release(&units);
}

/*
 * settings.h - every setting of the host and of a person, and which of its values is in force
 * (R8.1): flag > saved > environment > built in. What a person chooses in one ask, and what an
 * agent asks for, is combined with these values by the engine.
 *
 * Nothing here logs, prints or aborts: an invalid value becomes a warning and is ignored. Each
 * entry of the program asks settings_problem whether it can run without it (R8).
 */
#ifndef SETTINGS_SETTINGS_H
#define SETTINGS_SETTINGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/gate.h"
#include "core/routing.h"
#include "i18n/i18n.h"

struct settings;

enum setting_id {
#define SETTING(id, ...) SETTING_##id,
#include "settings/settings.def"
#undef SETTING
    SETTING_COUNT,
};

enum setting_group {
#define SETTING(...)
#define SETTING_GROUP(id) SETTING_GROUP_##id,
#include "settings/settings.def"
#undef SETTING
    SETTING_GROUP_COUNT,
};

enum setting_type {
    SETTING_TYPE_BOOL, /* on, off; yes, no, true, false, 1, 0 are read too */
    SETTING_TYPE_INTEGER,
    SETTING_TYPE_SECONDS, /* 90; 90s, 5m, 2h, 1d are read too */
    SETTING_TYPE_ENUM,
    SETTING_TYPE_TEXT,   /* one line of UTF-8 */
    SETTING_TYPE_PERIOD, /* "22:00-07:00", or "" */
    SETTING_TYPE_LIMITS, /* JSON object: client name, or "*", to seconds */
};
enum setting_scope { SETTING_SCOPE_HOST, SETTING_SCOPE_PERSON };
enum setting_strictness { SETTING_LOOSE, SETTING_STRICT };
/* In the order of strength, weakest first. */
enum setting_source {
    SETTING_BUILT_IN,
    SETTING_ENVIRONMENT,
    SETTING_SAVED,
    SETTING_FLAG,
    SETTING_SOURCE_COUNT,
};

struct setting_row {
    const char *name;
    enum setting_type type;
    enum setting_scope scope;
    enum setting_strictness strictness;
    const char *environment; /* name of the variable */
    const char *flag;        /* "--port"; NULL: none */
    const char *built_in;
    int64_t min, max;
    const char *choices; /* "auto|en|zh"; NULL unless an ENUM */
    enum text_id label, help;
};

/* What settings_integer gives for an ENUM: the place of the word in its row's choices. The rows
 * interface and language are read by settings_interface and settings_language. */
enum { TIMEOUT_ACTION_NONE, TIMEOUT_ACTION_SUBMIT_DEFAULTS };
enum { CLI_ANSWERS_ANY, CLI_ANSWERS_TTY, CLI_ANSWERS_OFF };
enum { MCP_AUTH_TOKEN, MCP_AUTH_NONE };
enum { COME_BACK_AUTO, COME_BACK_ON, COME_BACK_OFF };
enum { MCP_MODERN_AUTO, MCP_MODERN_ON, MCP_MODERN_OFF };
enum { KEEP_SIGNED_IN_AUTO, KEEP_SIGNED_IN_ON, KEEP_SIGNED_IN_OFF };

struct setting_value {
    int64_t number;      /* BOOL: 0 or 1; INTEGER, SECONDS; ENUM: place in the choices */
    char *text;          /* ENUM: the word; TEXT, PERIOD, LIMITS; owned; else NULL */
    struct json *limits; /* LIMITS: the same as it was read; owned; else NULL */
};

const struct setting_row *setting_row(enum setting_id id);
enum setting_group setting_group(enum setting_id id);
const char *setting_group_name(enum setting_group group); /* "question" */
const char *setting_heading(enum setting_id id); /* its group's, above its first row; NULL: none */
const char *setting_type_name(enum setting_type type); /* "bool" */
/* What a row takes, in few words that are the same in every language: "on|off", "1..300". */
void setting_add_values(enum setting_id id, struct text *out);
bool setting_find(const char *name, enum setting_id *ret_id);

/* On false `err` is at path "/<name>"; its message says what the setting takes. */
bool settings_parse(enum setting_id id, const char *text, struct setting_value *ret_value,
                    struct error *err);
/* appends what settings_parse reads */
void settings_print_value(enum setting_id id, const struct setting_value *value, struct text *out);
void setting_value_release(struct setting_value *value);
/* Appends an address with stars for its password, wherever that is; true: it has one. */
bool setting_hide_password(const char *address, struct text *out);
/* "10.0.0.5:7443" or "[::]:7443"; the address goes into `size` bytes. */
bool setting_read_listen(const char *text, char *address, size_t size, int *ret_port);
struct settings *settings_new(void); /* built-in values */
void settings_free(struct settings *settings);

/* The environment and the saved host rows; NULL: there is no place for a file. */
void settings_load(struct settings *settings, const char *path);
/* Reads the process's environment; an empty variable counts as unset. */
void settings_load_environment(struct settings *settings);
/* The saved host rows. No such file: fine. Anything wrong with it becomes warnings. */
void settings_load_file(struct settings *settings, const char *path);
/* The host's settings as they are now, for a process that shares the file with others: read again
 * when it is another one, comes or goes, so a change takes effect immediately. The file is looked
 * immediately a turn of the loop (whose end clears is_seen), not for each call of that turn. */
struct current_settings {
    struct settings *settings; /* as they were loaded; owned */
    bool is_seen;              /* in this turn */
};
const struct settings *current_settings(struct current_settings *current);
/* True: the file or a strict row can't be read, and no stronger source has its value. `err` is
 * unavailable; in English it says where that is and how to fix it. */
bool settings_problem(const struct settings *settings, struct error *err);
/* A saved value, of a person from the store or of the host; NULL removes it. False: a warning was
 * collected; what is saved stays as it was, or a strict row gets the value that allows least. */
bool settings_put_saved(struct settings *settings, const char *name, const char *text);
bool settings_put_flag(struct settings *settings, enum setting_id id, const char *text,
                       struct error *err);
/* Writes a row of the host into the file as it is now, or with NULL removes it; everything else in
 * it stays. A file that can't be read is left alone: false, with what settings_problem says. */
bool settings_save(const char *path, enum setting_id id, const char *text, struct error *err);

/* The value in force. Asking by the wrong type is a programming error and aborts. */
bool settings_is_on(const struct settings *settings, enum setting_id id);      /* BOOL */
int64_t settings_integer(const struct settings *settings, enum setting_id id); /* numbers, ENUM */
/* ENUM: its word; TEXT, PERIOD, LIMITS: the text. Borrowed until that setting changes. */
const char *settings_text(const struct settings *settings, enum setting_id id);
/* Any type, as a JSON value of its own kind. */
void settings_write(const struct settings *settings, enum setting_id id, struct json_writer *writer,
                    const char *key);
/* As an object with its source and scope; `is_described`: also what its row takes. */
void settings_write_row(const struct settings *settings, enum setting_id id, bool is_described,
                        struct json_writer *writer);
/* {"settings": […]}: all of them, or the one with this name. */
void settings_write_list(const struct settings *settings, const char *name,
                         struct json_writer *writer);

enum setting_source settings_source(const struct settings *settings, enum setting_id id);

/* INTERFACE_NONE where it is not set: the built-in value routes nothing. */
enum ask_interface settings_interface(const struct settings *settings);
/* The language to speak: the setting, or for auto the locale seen by settings_load_environment. */
enum language settings_language(const struct settings *settings);
const char *settings_language_tag(const struct settings *settings);
/* Speaks what the person saved, else what CHOICE_LANG says here, else what it said where the
 * agent's client runs (`asked`, or NULL), else the hub's `value`. False: none of them is a
 * language. */
bool settings_speak(const char *value, bool is_saved, const char *asked);
/* do_not_disturb, or minute_of_day (local time, 0..1439) inside quiet_hours. */
bool settings_is_quiet(const struct settings *settings, int minute_of_day);
bool settings_is_within(const char *period, int minute_of_day); /* "22:00-07:00"; "" is never */
/* How long a call of this client may be held open: what is set for its name, else for the longest
 * "…*" that it begins with ("*" is for all others), else as known_client_hold_s() says. */
int64_t settings_hold_limit_s(const struct settings *settings, const char *client_name,
                              bool has_progress, int64_t timeout_s);

/* The first of the person's rules that speaks of this call. */
struct gate_match settings_gate(const struct settings *settings, const struct gate_call *call);
/* Whether MCP 2026-07-28 is offered to this client; NULL: it has no name. */
bool settings_offers_modern(const struct settings *settings, const char *client_name);

/* What was wrong with values we were given, oldest first, at most SETTINGS_MAX_WARNINGS. */
enum { SETTINGS_MAX_WARNINGS = 64, SETTING_NAME_BYTES = 64, SETTINGS_FILE_MAX_BYTES = 1048576 };
struct setting_warning {
    char setting[SETTING_NAME_BYTES]; /* "" when it is about the file as a whole */
    enum setting_source source;
    enum text_id reason;
    size_t line; /* of the file; 0: not known */
};
size_t settings_warning_count(const struct settings *settings);
const struct setting_warning *settings_warning(const struct settings *settings, size_t index);
/* Whether settings_problem speaks of such a warning. */
bool settings_is_fatal(const struct settings *settings, const struct setting_warning *warning);
/* Appends a sentence: what is wrong, and what to do or that it is not used; never the bad value. */
void settings_describe_warning(const struct settings *settings, enum language language,
                               const struct setting_warning *warning, struct text *out);

#endif

/*
 * config_text.h - changes one member of a client's configuration file and leaves every other
 * byte as it is: comments, order, indentation, line ends, a byte order mark.
 *
 * A path is the keys from the root to the member, or to a list and which item of it; the one
 * behind the last is where a new item goes. A format is a row here (JSON with or without comments,
 * TOML); clients.c names one for each client.
 */
#ifndef CLI_INSTALL_CONFIG_TEXT_H
#define CLI_INSTALL_CONFIG_TEXT_H
#include <stdbool.h>
#include <stddef.h>

struct error;
struct json;
struct json_writer;
struct text;

enum { CONFIG_MAX_KEYS = 4 };
struct config_path {
    const char *keys[CONFIG_MAX_KEYS]; /* borrowed */
    size_t count;
    bool is_item; /* of the list that the keys lead to; not in TOML */
    size_t item;
};

struct config_format {
    /* False: not of this format; `err` is bad_json and its path the line number. */
    bool (*check)(const struct text *text, struct error *err);
    /* What is at the path, the caller frees; NULL: nothing. What our reader can't read (a number
     * beyond all bounds, half a surrogate) is null. The text was checked. */
    struct json *(*find)(const struct text *text, const struct config_path *path);
    /* Adds or replaces. False: the text is built in a way that this can't be done in. */
    bool (*set)(struct text *text, const struct config_path *path, const struct json *value,
                struct error *err);
    bool (*drop)(struct text *text, const struct config_path *path, struct error *err);
};
extern const struct config_format config_json;  /* strict */
extern const struct config_format config_jsonc; /* with comments and commas at the end */
extern const struct config_format config_toml;

/* A list in such a text, and which of its items is ours: the first that `fits`. */
struct config_list {
    const struct config_format *format;
    struct config_path path;
    bool (*fits)(const struct json *item, const void *context);
    const void *context; /* borrowed */
};
struct json *config_list_find(const struct config_list *list, const struct text *text);
/* Replaces ours, or adds it as the last item. */
bool config_list_put(const struct config_list *list, const struct json *item, struct text *text,
                     struct error *err);
bool config_list_drop(const struct config_list *list, struct text *text, struct error *err);

/* Puts `length` bytes in place of those from `from` to `to`. */
void config_splice(struct text *text, size_t from, size_t to, const char *bytes, size_t length);
/* "\r\n" if the first line ends so. */
const char *config_line_end(const struct text *text);
bool config_fail_at(const struct text *text, size_t at, struct error *err);
enum { CONFIG_BOM_BYTES = 3 };
/* Where the first byte is that no text file has: NUL, or what is not UTF-8; `used`: nowhere. */
size_t config_first_bad(const struct text *text);
/* Strictly read, or null. */
struct json *config_read_value(const char *bytes, size_t length);
/* The object that ends here as a value; its text is released. */
struct json *config_take_object(struct json_writer *writer);
bool config_same(const struct text *a, const struct text *b);
size_t config_bom(const struct text *text); /* bytes of a byte order mark at the beginning */

/* What a change does to a text, line by line, as `diff -u` shows it. */

/* Appends nothing where both are the same. `path` stands in its head. */
void diff_add(struct text *out, const char *path, const struct text *before,
              const struct text *after);

#endif

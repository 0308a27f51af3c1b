/* gate_path.c - paths against rules: as written, and as what they come to. Nothing is looked up. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/gate_inside.h"

/* One step of a path: . is nothing, .. takes the last one away. */
static void add_step(struct text *out, const char *step, size_t length)
{
    if (length == 0 || (length == 1 && step[0] == '.'))
        return;
    if (length == 2 && step[0] == '.' && step[1] == '.') {
        while (out->used > 0 && out->bytes[out->used - 1] != '/')
            out->used--;
        if (out->used > 0)
            out->used--;
        return;
    }
    text_add_char(out, '/');
    text_add(out, step, length);
}

static void add_steps(struct text *out, const char *path)
{
    while (*path) {
        size_t length = strcspn(path, "/");

        add_step(out, path, length);
        path += length + (path[length] == '/');
    }
}

/* Behind what stands for the home directory: ~, ~ada, $HOME, ${HOME}; NULL: none of them. */
static const char *skip_home(const char *path, const char *home)
{
    const char *name = home && strrchr(home, '/') ? strrchr(home, '/') + 1 : "";
    size_t length = strcspn(path, "/"), named = strlen(name);
    bool is_own = length == 1 || (length == named + 1 && strncmp(path + 1, name, named) == 0);

    return home && ((path[0] == '~' && is_own) || (length == 5 && strncmp(path, "$HOME", 5) == 0) ||
                    (length == 7 && strncmp(path, "${HOME}", 7) == 0))
               ? path + length
               : NULL;
}

/* From the root, without . and .. in it. */
static void make_absolute(const char *path, const struct gate_call *call, struct text *out)
{
    const char *below_home = skip_home(path, call->home);

    if (below_home)
        add_steps(out, call->home);
    else if (path[0] != '/' && call->directory)
        add_steps(out, call->directory);
    add_steps(out, below_home ? below_home : path);
    if (out->used > 0) /* what add_step took away is behind the end now */
        out->bytes[out->used] = '\0';
}

static void make_pattern(const char *pattern, const struct gate_call *call, struct text *out)
{
    if (pattern[0] == '~' && pattern[1] == '/' && call->home)
        text_add_text(out, call->home);
    else if (!strchr("/~*", pattern[0]))
        text_add_text(out, "*/");
    text_add_text(out, pattern[0] == '~' && call->home ? pattern + 1 : pattern);
    if (pattern[strlen(pattern) - 1] == '/')
        text_add_char(out, '*');
}

/* A shell may make of the path, from one of its steps on, what the rule names, or `is_above` what
 * that is in: wherever it may put something, anything may be. .* is part of a regular expression
 * more often than of a path. */
static bool may_become(const char *path, const struct text *wanted, bool is_above)
{
    unsigned how = GATE_CASE | GATE_STEPS | (is_above ? GATE_PARENTS : 0);
    struct text named = { 0 }, pattern = { 0 };
    bool is_found = false;

    for (size_t i = 0; i < wanted->used; i++) {
        if (wanted->bytes[i] != '*' && (wanted->bytes[i] != '/' || i + 2 < wanted->used))
            text_add_char(&named, wanted->bytes[i]);
    }
    for (const char *at = path; *at; at++) {
        const char *end = *at == '[' ? strpbrk(at, "]/") : NULL;

        text_add_char(&pattern, *at == '?' || *at == '[' ? '*' : *at);
        at = end && *end == ']' ? end : at;
    }
    path = strstr(path, "/.*") ? NULL : text_string(&pattern);
    for (; path && !is_found; path = strchr(path + 1, '/'))
        is_found = gate_glob(path, text_string(&named), named.used, how);
    text_release(&named);
    text_release(&pattern);
    return is_found;
}

bool gate_matches_path(const char *pattern, const char *path, const struct gate_call *call,
                       enum gate_reach reach)
{
    struct text wanted = { 0 }, absolute = { 0 };
    bool is_found;

    make_pattern(pattern, call, &wanted);
    make_absolute(path, call, &absolute);
    is_found = gate_glob(text_string(&wanted), path, strlen(path), GATE_CASE) ||
               gate_glob(text_string(&wanted), text_string(&absolute), absolute.used, GATE_CASE);
    if (!is_found && reach != GATE_BELOW && absolute.used) {
        is_found = absolute.used < FILENAME_MAX &&
                   may_become(absolute.bytes, &wanted, reach == GATE_ABOVE);
        text_add_char(&absolute, '/'); /* with it the directory is like what is below */
        is_found |=
            gate_glob(text_string(&wanted), text_string(&absolute), absolute.used, GATE_CASE);
    }
    text_release(&absolute);
    text_release(&wanted);
    return is_found;
}

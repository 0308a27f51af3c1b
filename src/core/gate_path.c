/* gate_path.c - paths against rules: as written, and as what they come to. Nothing is looked up. */
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
    static const char *const spellings[] = { "~", "$HOME", "${HOME}" };
    const char *name = home ? strrchr(home, '/') : NULL;
    size_t length;

    for (size_t i = 0; home && i < ARRAY_LEN(spellings); i++) {
        length = strlen(spellings[i]);
        if (strncmp(path, spellings[i], length) == 0 && strchr("/", path[length]))
            return path + length;
    }
    length = name ? strlen(name + 1) : 0;
    return length && path[0] == '~' && strncmp(path + 1, name + 1, length) == 0 &&
                   strchr("/", path[1 + length])
               ? path + 1 + length
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

bool gate_matches_path(const char *pattern, const char *path, const struct gate_call *call,
                       bool is_below)
{
    struct text wanted = { 0 }, absolute = { 0 };
    bool is_found;

    make_pattern(pattern, call, &wanted);
    make_absolute(path, call, &absolute);
    is_found = gate_glob(text_string(&wanted), path, strlen(path), true) ||
               gate_glob(text_string(&wanted), text_string(&absolute), absolute.used, true);
    if (!is_found && !is_below && absolute.used) {
        text_add_char(&absolute, '/'); /* with it the directory is like what is below */
        is_found = gate_glob(text_string(&wanted), text_string(&absolute), absolute.used, true);
    }
    text_release(&absolute);
    text_release(&wanted);
    return is_found;
}

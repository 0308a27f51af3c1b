/*
 * diff.c - a unified diff into a block a line. Hunks are counted by their heads, so that a removed
 * line "-- x" is not taken for the name of a file.
 */
#include <string.h>

#include "base/mem.h"
#include "markup/inside.h"

struct hunk {
    long old_left, new_left;
};

static bool begins(const char *line, size_t length, const char *with)
{
    return length >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* "12" or "12,5": the second is how many lines; without it there is one. Moves on. */
static bool read_range(const char **at, const char *end, long *ret_lines)
{
    long numbers[2] = { 0, 1 };

    for (int i = 0; i < 2; i++) {
        const char *begin = *at;

        for (numbers[i] = 0; *at < end && **at >= '0' && **at <= '9' && *at - begin < 9; ++*at)
            numbers[i] = numbers[i] * 10 + (**at - '0');
        if (*at == begin)
            return false;
        if (i == 1 || *at == end || **at != ',') {
            *ret_lines = i == 1 ? numbers[1] : 1;
            return true;
        }
        ++*at;
    }
    return false;
}

static bool take(const char **at, const char *end, const char *sign)
{
    if (!begins(*at, (size_t)(end - *at), sign))
        return false;
    *at += strlen(sign);
    return true;
}

static bool read_hunk(const char *line, size_t length, struct hunk *hunk)
{
    const char *end = line + length;

    return take(&line, end, "@@ -") && read_range(&line, end, &hunk->old_left) &&
           take(&line, end, " +") && read_range(&line, end, &hunk->new_left) &&
           take(&line, end, " @@");
}

/* Without "a/" and "b/" in front and a time behind. */
static void cut_name(const char **name, size_t *length)
{
    const char *tab = memchr(*name, '\t', *length);

    if (tab)
        *length = (size_t)(tab - *name);
    if (begins(*name, *length, "a/") || begins(*name, *length, "b/")) {
        *name += 2;
        *length -= 2;
    }
}

/* "--- a/x" and "+++ b/x" are one line for people; both names where they differ. */
static void add_file(struct builder *builder, const char *old, size_t old_length, const char *new,
                     size_t new_length)
{
    struct markup_block block = { .kind = MARKUP_FILE };
    bool is_same;

    cut_name(&old, &old_length);
    cut_name(&new, &new_length);
    is_same = old_length == new_length && memcmp(old, new, old_length) == 0;
    builder_begin(builder, block);
    if (!is_same) {
        builder_add(builder, 0, old, old_length);
        builder_add(builder, 0, " > ", 3);
    }
    builder_add(builder, 0, new, new_length);
    builder_end(builder);
}

struct lines {
    struct builder *builder;
    struct hunk hunk;
    bool is_in_hunk;
    size_t file; /* index of its block + 1; 0: none yet */
};

static void count(struct lines *lines, bool is_added)
{
    struct markup_block *file;

    if (lines->file == 0)
        return;
    file = &lines->builder->markup->blocks[lines->file - 1];
    file->added += is_added;
    file->removed += !is_added;
}

/* A line of a hunk, its sign kept: it carries the meaning without colour. */
static void add_change(struct lines *lines, const char *line, size_t length)
{
    struct markup_block block = { .kind = MARKUP_SAME };

    if (length > 0 && line[0] == '\\') { /* "No newline at end of file" */
        block.kind = MARKUP_META;
    } else if (length > 0 && line[0] == '+') {
        block.kind = MARKUP_ADDED;
        lines->hunk.new_left--;
        count(lines, true);
    } else if (length > 0 && line[0] == '-') {
        block.kind = MARKUP_REMOVED;
        lines->hunk.old_left--;
        count(lines, false);
    } else {
        lines->hunk.old_left--;
        lines->hunk.new_left--;
    }
    builder_line(lines->builder, block, line, length);
    lines->is_in_hunk = lines->hunk.old_left > 0 || lines->hunk.new_left > 0;
}

/* Outside of a hunk signs are still signs: agents write diffs whose heads are wrong. */
static void add_other(struct lines *lines, const char *line, size_t length)
{
    struct markup_block block = { .kind = MARKUP_META };

    if (length > 0 && (line[0] == '+' || line[0] == '-')) {
        block.kind = line[0] == '+' ? MARKUP_ADDED : MARKUP_REMOVED;
        count(lines, line[0] == '+');
    } else if (length == 0 || line[0] == ' ') {
        block.kind = MARKUP_SAME;
    }
    builder_line(lines->builder, block, line, length);
}

static size_t line_length(const char *line)
{
    return strcspn(line, "\n");
}

/* Returns the bytes consumed. */
static size_t add_line(struct lines *lines, const char *line)
{
    size_t length = line_length(line), next = line[length] ? length + 1 : length;
    size_t second = line_length(line + next);

    if (lines->is_in_hunk) {
        add_change(lines, line, length);
    } else if (read_hunk(line, length, &lines->hunk)) {
        builder_line(lines->builder, (struct markup_block){ .kind = MARKUP_HUNK }, line, length);
        lines->is_in_hunk = lines->hunk.old_left > 0 || lines->hunk.new_left > 0;
    } else if (begins(line, length, "--- ") && begins(line + next, second, "+++ ")) {
        add_file(lines->builder, line + 4, length - 4, line + next + 4, second - 4);
        lines->file = lines->builder->markup->block_count;
        return next + (line[next + second] ? second + 1 : second);
    } else {
        add_other(lines, line, length);
    }
    return next;
}

void diff_build(struct builder *builder, const char *text)
{
    struct lines lines = { .builder = builder };

    while (*text && !builder->markup->is_full)
        text += add_line(&lines, text);
}

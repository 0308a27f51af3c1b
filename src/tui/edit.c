#include "tui/edit.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "core/glyph.h"
#include "tui/canvas.h"
#include "tui/keyboard.h"

void edit_init(struct edit *edit, bool has_lines, size_t max_bytes, const char *text)
{
    memset(edit, 0, sizeof *edit);
    edit->has_lines = has_lines;
    edit->max_bytes = max_bytes;
    edit->wish_column = -1;
    text_add_text(&edit->text, text);
    edit->at = edit->text.used;
}

void edit_release(struct edit *edit)
{
    text_release(&edit->text);
}

void edit_clear(struct edit *edit)
{
    text_clear(&edit->text);
    edit->at = 0;
}

void edit_set(struct edit *edit, const char *text)
{
    edit_release(edit);
    edit_init(edit, edit->has_lines, edit->max_bytes, text);
}

static const char *bytes_of(const struct edit *edit)
{
    return text_string(&edit->text);
}

static void replace(struct edit *edit, size_t from, size_t to, const char *with, size_t length)
{
    struct text changed = { 0 };

    text_add(&changed, bytes_of(edit), from);
    text_add(&changed, with, length);
    text_add(&changed, bytes_of(edit) + to, edit->text.used - to);
    text_release(&edit->text);
    edit->text = changed;
    edit->at = from + length;
}

static void insert(struct edit *edit, const char *bytes, size_t length)
{
    size_t room = edit->max_bytes > edit->text.used ? edit->max_bytes - edit->text.used : 0;
    size_t fits = 0;
    struct text line = { 0 };

    for (size_t i = 0; i < length && !edit->has_lines; i++)
        text_add_char(&line, bytes[i] == '\n' ? ' ' : bytes[i]);
    if (!edit->has_lines)
        bytes = text_string(&line);
    while (fits < length) {
        size_t next = glyph_first(bytes + fits, length - fits).bytes;

        if (fits + next > room)
            break;
        fits += next;
    }
    edit->is_full = fits < length;
    replace(edit, edit->at, edit->at, bytes, fits);
    text_release(&line);
}

static size_t line_begin(const struct edit *edit, size_t at)
{
    while (at > 0 && bytes_of(edit)[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const struct edit *edit, size_t at)
{
    while (at < edit->text.used && bytes_of(edit)[at] != '\n')
        at++;
    return at;
}

static size_t glyph_after(const struct edit *edit, size_t at)
{
    if (at >= edit->text.used)
        return at;
    return at + glyph_first(bytes_of(edit) + at, edit->text.used - at).bytes;
}

static bool is_word(char byte)
{
    return ((unsigned char)byte & 0x80) || isalnum((unsigned char)byte);
}

static size_t word_before(const struct edit *edit, size_t at)
{
    while (at > 0 && !is_word(bytes_of(edit)[at - 1]))
        at = glyph_before(bytes_of(edit), at);
    while (at > 0 && is_word(bytes_of(edit)[at - 1]))
        at = glyph_before(bytes_of(edit), at);
    return at;
}

static size_t word_after(const struct edit *edit, size_t at)
{
    while (at < edit->text.used && !is_word(bytes_of(edit)[at]))
        at = glyph_after(edit, at);
    while (at < edit->text.used && is_word(bytes_of(edit)[at]))
        at = glyph_after(edit, at);
    return at;
}

/* A row as drawn: text from `begin`, and where the next row begins. */
struct row {
    size_t begin, bytes, next;
    bool is_last;
};

static struct row row_at(const struct edit *edit, size_t begin)
{
    struct row row = { .begin = begin };
    size_t left = edit->text.used - begin, next;
    int room = edit->columns - 1 - (begin == 0 ? edit->indent : 0); /* the cursor's place is kept */

    row.bytes = glyph_wrap(bytes_of(edit) + begin, left, room > 1 ? room : 1, &next);
    row.next = begin + next;
    /* behind a closing line feed there is one more row, an empty one */
    row.is_last = next == left && (row.bytes == left || bytes_of(edit)[begin + row.bytes] != '\n');
    return row;
}

/* The row that the cursor is in, how many are above it, and where the one above begins. */
static struct row cursor_row(const struct edit *edit, int *ret_above, size_t *ret_before)
{
    struct row row = row_at(edit, 0);

    *ret_above = 0;
    *ret_before = 0;
    while (!row.is_last && edit->at >= row.next) {
        *ret_before = row.begin;
        ++*ret_above;
        row = row_at(edit, row.next);
    }
    return row;
}

static size_t at_column(const struct edit *edit, struct row row, int column)
{
    size_t at = row.begin, end = row.begin + row.bytes;

    for (int here = 0; at < end;) {
        struct glyph glyph = glyph_first(bytes_of(edit) + at, end - at);

        if (here + glyph.columns > column)
            break;
        here += glyph.columns;
        at += glyph.bytes;
    }
    return at;
}

static void move_row(struct edit *edit, bool is_up)
{
    size_t before;
    int above;
    struct row row = cursor_row(edit, &above, &before);

    if (edit->wish_column < 0)
        edit->wish_column = glyph_columns(bytes_of(edit) + row.begin, edit->at - row.begin);
    if (is_up && above == 0)
        edit->at = 0;
    else if (!is_up && row.is_last)
        edit->at = edit->text.used;
    else
        edit->at = at_column(edit, row_at(edit, is_up ? before : row.next), edit->wish_column);
}

static size_t glyph_left(const struct edit *edit, size_t at)
{
    return at > 0 ? glyph_before(bytes_of(edit), at) : 0;
}

/* The keys that go somewhere, or take away what is between there and the cursor. */
static const struct {
    enum key_code code;
    char letter; /* of KEY_CONTROL */
    bool takes_away;
    size_t (*to)(const struct edit *edit, size_t at);
} ways[] = {
    { KEY_LEFT, 0, false, glyph_left },       { KEY_RIGHT, 0, false, glyph_after },
    { KEY_WORD_LEFT, 0, false, word_before }, { KEY_WORD_RIGHT, 0, false, word_after },
    { KEY_HOME, 0, false, line_begin },       { KEY_END, 0, false, line_end },
    { KEY_BACKSPACE, 0, true, glyph_left },   { KEY_DELETE, 0, true, glyph_after },
    { KEY_CONTROL, 'a', false, line_begin },  { KEY_CONTROL, 'e', false, line_end },
    { KEY_CONTROL, 'k', true, line_end },     { KEY_CONTROL, 'u', true, line_begin },
    { KEY_CONTROL, 'w', true, word_before },
};

static bool takes_way(struct edit *edit, const struct key *key)
{
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        size_t at = edit->at, to;

        if (ways[i].code != key->code ||
            (key->code == KEY_CONTROL && ways[i].letter != key->text[0]))
            continue;
        to = ways[i].to(edit, at);
        if (ways[i].takes_away && to != at)
            replace(edit, to < at ? to : at, to < at ? at : to, "", 0);
        else
            edit->at = to;
        return true;
    }
    return false;
}

bool edit_key(struct edit *edit, const struct key *key)
{
    if (edit->has_lines && (key->code == KEY_UP || key->code == KEY_DOWN)) {
        move_row(edit, key->code == KEY_UP);
        return true;
    }
    edit->wish_column = -1;
    if (key->code == KEY_TEXT || key->code == KEY_PASTE)
        insert(edit, key->text, key->length);
    else if (key->code == KEY_ENTER && edit->has_lines)
        insert(edit, "\n", 1);
    else
        return takes_way(edit, key);
    return true;
}

bool edit_search_key(struct edit *edit, const struct key *key)
{
    if (key->code == KEY_ESCAPE)
        edit_clear(edit);
    else if (key->code != KEY_ENTER)
        edit_key(edit, key);
    return key->code != KEY_ESCAPE && key->code != KEY_ENTER;
}

int edit_draw_from(struct edit *edit, struct canvas *canvas, int row, int first, int column,
                   int end, int rows, bool has_focus)
{
    struct row cursor, drawn;
    size_t before;
    int above;

    edit->columns = end - column;
    edit->indent = first - column;
    cursor = cursor_row(edit, &above, &before);
    drawn = row_at(edit, 0);
    for (; above >= rows; above--) /* the cursor's row is the last one drawn, if need be */
        drawn = row_at(edit, drawn.next);
    for (; rows > 0; rows--, row++) {
        int begin = drawn.begin == 0 ? first : column;

        canvas_need_row(canvas, row);
        canvas_put(canvas, row, begin, end, INK_FIELD, bytes_of(edit) + drawn.begin, drawn.bytes);
        if (has_focus && drawn.begin == cursor.begin) {
            canvas->cursor_row = row;
            canvas->cursor_column =
                begin + glyph_columns(bytes_of(edit) + drawn.begin, edit->at - drawn.begin);
        }
        if (drawn.is_last)
            return row + 1;
        drawn = row_at(edit, drawn.next);
    }
    return row;
}

int edit_draw(struct edit *edit, struct canvas *canvas, int row, int column, int end, int rows,
              bool has_focus)
{
    return edit_draw_from(edit, canvas, row, column, column, end, rows, has_focus);
}

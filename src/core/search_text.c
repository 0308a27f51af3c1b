#include "core/search_text.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"

/* Members of a form that hold words for people; ids, kinds and formats do not. */
static const char *const shown_members[] = { "title", "prompt", "label", "description", "text" };

static void add_folded_ascii(struct text *out, const char *bytes, size_t length)
{
    char *room = text_add_room(out, length);

    for (size_t i = 0; room && i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        room[i] = (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte < ' ' ? ' ' : byte);
    }
}

/* Memory is ours, so that running out of it ends in base/mem. */
static void add_folded(struct text *out, const char *bytes, size_t length)
{
    const utf8proc_option_t options =
        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
    utf8proc_ssize_t count, room = (utf8proc_ssize_t)length;
    utf8proc_int32_t *points;

    if (text_is_ascii(bytes, length)) {
        add_folded_ascii(out, bytes, length);
        return;
    }
    points = mem_new((size_t)(room + 1) * sizeof *points);
    count = utf8proc_decompose((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length, points,
                               room, options);
    if (count > room) { /* one that unfolds into many */
        points = mem_resize(points, (size_t)(count + 1) * sizeof *points);
        count = utf8proc_decompose((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length,
                                   points, count, options);
    }
    if (count > 0)
        count = utf8proc_normalize_utf32(points, count, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    for (utf8proc_ssize_t i = 0; i < count; i++)
        text_add_code_point(out, points[i] < ' ' ? ' ' : points[i]);
    free(points);
}

static void add_line(struct text *out, const char *bytes, size_t length)
{
    size_t room = out->used < SEARCH_TEXT_BYTES ? SEARCH_TEXT_BYTES - out->used : 0;

    if (length > room) { /* cut between two characters */
        length = room;
        while (length > 0 && ((unsigned char)bytes[length] & 0xc0) == 0x80)
            length--;
    }
    if (length == 0)
        return;
    add_folded(out, bytes, length);
    text_add_char(out, '\n');
}

/* The reader of JSON bounds the depth. */
static void add_texts(const struct json *value, bool is_wanted, bool takes_all, struct text *out)
{
    if (json_kind(value) == KIND_TEXT && is_wanted)
        add_line(out, json_text(value), json_length(value));
    for (size_t i = 0; json_kind(value) == KIND_LIST && i < json_length(value); i++)
        add_texts(json_item(value, i), is_wanted, takes_all, out);
    for (void *it = json_first(value); it; it = json_next(value, it)) {
        bool is_shown = text_is_among(json_key(it), shown_members, ARRAY_LEN(shown_members));

        add_texts(json_value(it), takes_all || is_shown, takes_all, out);
    }
}

static void add_document(const char *document, bool takes_all, struct text *out)
{
    struct json *value = NULL;

    if (!document || !json_parse(document, strlen(document), &value, NULL))
        return;
    add_texts(value, takes_all, takes_all, out);
    json_free(value);
}

void search_text(const char *form_json, const char *answer_json, struct text *out)
{
    add_document(form_json, false, out);
    add_document(answer_json, true, out);
}

bool search_terms_read(const char *words, struct search_terms *ret_terms, struct error *err)
{
    struct search_terms terms = { 0 };
    struct text folded = { 0 };
    bool is_quoted = false, has_term = false;

    if (strlen(words) > SEARCH_BYTES)
        return error_say(err, ERROR_too_long, "/search", TEXT_REASON_SEARCH_BYTES, "most",
                         TEXT_NUMBER(SEARCH_BYTES), NULL);
    add_folded(&folded, words, strlen(words));
    terms.folded = text_take(&folded);
    for (char *at = terms.folded; *at; at++) {
        bool is_between = *at == '"' || (*at == ' ' && !is_quoted);

        if (*at == '"')
            is_quoted = !is_quoted;
        if (is_between)
            *at = '\0';
        if (!is_between && !has_term && terms.count == SEARCH_TERMS) {
            search_terms_release(&terms);
            return error_say(err, ERROR_too_long, "/search", TEXT_REASON_SEARCH_WORDS, "count",
                             TEXT_NUMBER(SEARCH_TERMS), NULL);
        }
        if (!is_between && !has_term)
            terms.terms[terms.count++] = at;
        has_term = !is_between;
    }
    *ret_terms = terms;
    return true;
}

void search_terms_release(struct search_terms *terms)
{
    free(terms->folded);
    *terms = (struct search_terms){ 0 };
}

bool search_terms_found(const struct search_terms *terms, const char *folded_text)
{
    for (size_t i = 0; i < terms->count; i++) {
        if (!strstr(folded_text, terms->terms[i]))
            return false;
    }
    return true;
}

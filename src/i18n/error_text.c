/* error_text.c - errors in the words of texts: said, written in a language, read from the wire. */
#include <string.h>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "i18n/i18n.h"

enum { NAME_BYTES = 32 };

bool error_say_list(struct error *err, enum error_code code, const char *path, enum text_id text,
                    va_list arguments)
{
    struct text_pairs pairs;

    text_read_pairs(&pairs, arguments);
    return error_fill(err, code, path, text, i18n_text_in(LANGUAGE_EN, text), &pairs);
}

bool error_say(struct error *err, enum error_code code, const char *path, enum text_id text, ...)
{
    va_list arguments;

    va_start(arguments, text);
    error_say_list(err, code, path, text, arguments);
    va_end(arguments);
    return false;
}

/* The error's text; in the place of {takes} the one that is in it. */
static const char *text_of(const struct error *err, enum language language, struct text *room)
{
    const char *text = i18n_text_in(language, (enum text_id)(err->text - 1));

    if (!err->inner)
        return text;
    i18n_format_in(language, room, (enum text_id)(err->text - 1), "takes",
                   i18n_text_in(language, (enum text_id)(err->inner - 1)), NULL);
    return text_string(room);
}

static void fill(struct error *err, const struct error *said, const struct text_pairs *pairs)
{
    struct text room = { 0 };

    error_fill(err, said->code, said->path, said->text - 1U, text_of(said, LANGUAGE_EN, &room),
               pairs);
    err->inner = said->inner;
    err->retry_after_s = said->retry_after_s;
    text_release(&room);
}

bool error_say_within(struct error *err, enum error_code code, enum text_id text,
                      enum text_id inner, ...)
{
    struct error said = { code, (uint16_t)(text + 1), (uint16_t)(inner + 1), { 0 }, .path = "" };
    struct text_pairs pairs;
    va_list arguments;

    va_start(arguments, inner);
    text_read_pairs(&pairs, arguments);
    va_end(arguments);
    fill(err, &said, &pairs);
    return false;
}

/* What stands at the names of the error's text, whose English is `english`. */
static void find_values(const struct error *err, const char *english, struct text_pairs *ret_pairs)
{
    const char *at = err->message, *end = at + strlen(at);
    struct text_piece piece;
    size_t count = 0;

    while (text_next_piece(&english, NULL, &piece) && count < ERROR_VALUES) {
        size_t length = piece.is_value ? err->lengths[count] : piece.length;

        length = length < (size_t)(end - at) ? length : (size_t)(end - at);
        if (piece.is_value)
            ret_pairs->each[count++] =
                (struct text_pair){ piece.bytes + 1, at, piece.length - 2, length };
        at += length;
    }
    ret_pairs->count = count;
}

bool error_write_in(const struct error *err, enum language language, struct text *out)
{
    struct text english = { 0 }, room = { 0 };
    struct text_pairs pairs;
    struct text_piece piece;
    const char *text = err->message;

    if (err->text) {
        find_values(err, text_of(err, LANGUAGE_EN, &english), &pairs);
        text = text_of(err, language, &room);
    }
    while (text_next_piece(&text, err->text ? &pairs : NULL, &piece))
        text_add(out, piece.bytes, piece.length);
    text_release(&english);
    text_release(&room);
    return err->text;
}

static const char *key_of(unsigned text)
{
    return text ? i18n_key((enum text_id)(text - 1)) : NULL;
}

static unsigned find_text(const char *key) /* 0: none of ours */
{
    unsigned text = key ? TEXT_COUNT : 0;

    while (text && strcmp(key_of(text), key) != 0)
        text--;
    return text;
}

/* A text may have a name twice, or have one that the text within it has too. */
static bool is_repeated(const struct text_pairs *pairs, size_t at)
{
    size_t i = 0;

    while (pairs->each[i].name_bytes != pairs->each[at].name_bytes ||
           memcmp(pairs->each[i].name, pairs->each[at].name, pairs->each[i].name_bytes) != 0)
        i++;
    return i < at;
}

void error_write_words(const struct error *err, struct json_writer *writer)
{
    struct text room = { 0 };
    struct text_pairs pairs;
    char name[NAME_BYTES];

    if (err->text == 0)
        return;
    find_values(err, text_of(err, LANGUAGE_EN, &room), &pairs);
    json_write_text(writer, "text", key_of(err->text));
    json_write_text_if(writer, "takes", key_of(err->inner));
    json_write_object(writer, "values");
    for (size_t i = 0; i < pairs.count; i++) {
        if (is_repeated(&pairs, i))
            continue;
        text_head(pairs.each[i].name, pairs.each[i].name_bytes, name);
        json_write_text_n(writer, name, pairs.each[i].value, pairs.each[i].value_bytes);
    }
    json_write_end_object(writer);
    text_release(&room);
}

void error_pack(const struct error *err, struct text *out)
{
    struct json_writer writer;

    text_add(out, err->message, strlen(err->message) + 1);
    writer = json_writer_to(out);
    json_write_object(&writer, NULL);
    error_write_words(err, &writer);
    json_write_end_object(&writer);
}

void error_read_words(struct error *err, const struct json *said)
{
    struct error words = *err;
    struct text_pairs pairs = { 0 };
    struct text room = { 0 };
    struct text_piece piece;
    const char *at;
    bool ok;

    words.text = (uint16_t)find_text(json_member_text(said, "text"));
    words.inner = (uint16_t)find_text(json_member_text(said, "takes"));
    ok = words.text && (words.inner || !json_member(said, "takes"));
    at = ok ? text_of(&words, LANGUAGE_EN, &room) : "";
    while (ok && text_next_piece(&at, NULL, &piece)) {
        const char *value;

        if (!piece.is_value)
            continue;
        value = json_text(
            json_member_n(json_member(said, "values"), piece.bytes + 1, piece.length - 2));
        ok = value && pairs.count < ERROR_VALUES;
        if (ok)
            pairs.each[pairs.count++] =
                (struct text_pair){ piece.bytes + 1, value, piece.length - 2, strlen(value) };
    }
    if (ok)
        fill(err, &words, &pairs);
    text_release(&room);
}

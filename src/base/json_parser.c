/*
 * json_parser.c - RFC 8259 and nothing else: strict UTF-8, no duplicate keys, no lone surrogates.
 * The bytes are copied into the document once and read there: no text needs more room than it was
 * written with, and each is closed by a NUL where its quote was. NULs follow the copy:
 * no JSON has them, so the reader stops there without comparing with the end. One look at the text
 * says how many values to allocate.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_value.h"
#include "base/mem.h"
#include "base/text.h"

/* 2^53: from here on a real without a fraction no longer names one integer. */
static const double JSON_MAX_WHOLE = 9007199254740992.0;
enum {
    STACK_FEW = 16,
    FEW_MEMBERS = 8,
    FEW_DIGITS = 18, /* of a number that surely fits */
    READ_PAST = sizeof(uint64_t),
};

struct reader {
    char *begin, *at, *end; /* of the document's own bytes */
    struct json_document *document;
    struct json *free_value; /* of the document */
    struct json *stack;      /* parts of what is not closed yet */
    size_t stacked, stack_room;
    struct json *few;   /* where the stack begins; owned by the caller */
    const char *wanted; /* a member of the root whose place is noted; NULL: none */
    size_t wanted_at, wanted_end;
    bool has_nul; /* the text that was read last */
    bool is_out_of_memory;
    const char *problem;
};

static bool read_value(struct reader *reader, int depth, struct json *out);

static bool fail(struct reader *reader, const char *problem)
{
    if (!reader->problem)
        reader->problem = problem;
    return false;
}

static bool fail_syntax(struct reader *reader)
{
    return fail(reader, "syntax");
}

/* Only where that does not end the process (mem.h). */
static bool fail_memory(struct reader *reader)
{
    reader->is_out_of_memory = true;
    return fail(reader, "out of memory");
}

/* Most JSON has none, so the first comparison decides for the usual byte. */
static void skip_blanks(struct reader *reader)
{
    while ((uint8_t)*reader->at <= ' ' && (*reader->at == ' ' || *reader->at == '\n' ||
                                           *reader->at == '\r' || *reader->at == '\t'))
        reader->at++;
}

static bool skip(struct reader *reader, char wanted)
{
    if (*reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static int32_t read_hex(struct reader *reader)
{
    int32_t number = 0;

    for (int i = 0; i < 4; i++) {
        char digit = *reader->at;

        number <<= 4;
        if (digit >= '0' && digit <= '9')
            number |= digit - '0';
        else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
            number |= (digit | 0x20) - 'a' + 10;
        else
            return -1;
        reader->at++;
    }
    return number;
}

/* Behind \u. -1: no code point. */
static int32_t read_code_point(struct reader *reader)
{
    int32_t high = read_hex(reader), low;

    if (high < 0xd800 || high > 0xdfff)
        return high;
    if (high > 0xdbff || !skip(reader, '\\') || !skip(reader, 'u'))
        return -1;
    low = read_hex(reader);
    if (low < 0xdc00 || low > 0xdfff)
        return -1;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

/* Returns where the next character goes; -1 becomes NULL. */
static char *put_code_point(struct reader *reader, char *out, int32_t code_point)
{
    char bytes[4];
    size_t length;

    if (code_point < 0)
        return NULL;
    length = text_encode(code_point, bytes);
    reader->has_nul |= code_point == 0;
    memcpy(out, bytes, length);
    return out + length;
}

/* Behind the backslash. Returns where the next character goes; NULL: no escape of JSON. */
static char *read_escape(struct reader *reader, char *out)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char name = *reader->at;
    const char *found = name ? strchr(names, name) : NULL;

    if (name == 'u') {
        reader->at++;
        return put_code_point(reader, out, read_code_point(reader));
    }
    if (!found)
        return NULL;
    reader->at++;
    *out++ = meant[found - names];
    return out;
}

/* A character of more than one byte moves to `out`; so does DEL, which no text for people has, but
 * JSON may. Returns where the next goes; NULL: a control character, or no UTF-8. */
static char *read_foreign(struct reader *reader, char *out)
{
    const char *from = reader->at, *at = from;
    size_t length;

    if (text_decode(&at, reader->end) < 0x7f)
        return NULL;
    length = (size_t)(at - from);
    memmove(out, from, length);
    reader->at += length;
    return out + length;
}

/* The bytes up to the quote lie where they are; behind an escape they move to the front. */
static bool read_text_from(struct reader *reader, char *out, const char **ret_text,
                           uint32_t *ret_length)
{
    char *begin = reader->at;

    reader->at = out;
    while (!skip(reader, '"')) {
        char *from;

        out = skip(reader, '\\') ? read_escape(reader, out) : read_foreign(reader, out);
        if (!out)
            return fail_syntax(reader);
        from = reader->at;
        reader->at = plain_bytes_end(from);
        memmove(out, from, (size_t)(reader->at - from));
        out += reader->at - from;
    }
    *out = '\0';
    *ret_text = begin;
    *ret_length = (uint32_t)(out - begin);
    return true;
}

/* Behind the opening quote. */
static bool read_text(struct reader *reader, const char **ret_text, uint32_t *ret_length)
{
    char *end = plain_bytes_end(reader->at);

    reader->has_nul = false;
    if (*end != '"')
        return read_text_from(reader, end, ret_text, ret_length);
    *end = '\0';
    *ret_text = reader->at;
    *ret_length = (uint32_t)(end - reader->at);
    reader->at = end + 1;
    return true;
}

static size_t skip_digits(struct reader *reader)
{
    const char *from = reader->at;

    while (*reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (size_t)(reader->at - from);
}

static bool skip_number(struct reader *reader, bool *ret_is_real)
{
    *ret_is_real = false;
    skip(reader, '-');
    if (!skip(reader, '0') && skip_digits(reader) == 0)
        return false;
    if (skip(reader, '.')) {
        *ret_is_real = true;
        if (skip_digits(reader) == 0)
            return false;
    }
    if (skip(reader, 'e') || skip(reader, 'E')) {
        *ret_is_real = true;
        if (!skip(reader, '+'))
            skip(reader, '-');
        if (skip_digits(reader) == 0)
            return false;
    }
    return true;
}

static bool read_integer(const char *from, const char *end, int64_t *ret_number)
{
    bool is_negative = *from == '-';
    int64_t number = 0;

    if (end - from > FEW_DIGITS) {
        errno = 0;
        *ret_number = strtoll(from, NULL, 10);
        return errno == 0;
    }
    for (from += is_negative; from < end; from++)
        number = number * 10 + (*from - '0');
    *ret_number = is_negative ? -number : number;
    return true;
}

/* A message with such a number is answered, so the number has to be read. */
static bool keep_as_written(struct reader *reader, const char *from, struct json *out)
{
    reader->document->has_huge = true;
    out->kind = KIND_HUGE;
    out->of.text = from;
    out->length = (uint32_t)(reader->at - from);
    return true;
}

/* 1.0 becomes 1 while reading, so that equal values have one kind, one encoding and one digest. */
static bool read_number(struct reader *reader, struct json *out)
{
    const char *from = reader->at;
    bool is_real;
    double real;

    if (!skip_number(reader, &is_real))
        return fail_syntax(reader);
    out->kind = KIND_INTEGER;
    if (!is_real)
        return read_integer(from, reader->at, &out->of.integer) ||
               keep_as_written(reader, from, out);
    real = text_parse_real(from);
    if (isinf(real))
        return keep_as_written(reader, from, out);
    if (floor(real) == real && fabs(real) < JSON_MAX_WHOLE) {
        out->of.integer = (int64_t)real;
    } else {
        out->kind = KIND_REAL;
        out->of.real = real;
    }
    return true;
}

static bool read_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);

    if (strncmp(reader->at, word, length) != 0)
        return fail_syntax(reader);
    reader->at += length;
    return true;
}

static bool grow_stack(struct reader *reader)
{
    bool is_first = reader->stack == reader->few;
    struct json *stack =
        mem_resize(is_first ? NULL : reader->stack, 2 * reader->stack_room * sizeof *stack);

    if (!stack)
        return fail_memory(reader);
    if (is_first)
        memcpy(stack, reader->few, reader->stacked * sizeof *stack);
    reader->stack = stack;
    reader->stack_room *= 2;
    return true;
}

static bool push(struct reader *reader, const struct json *part)
{
    if (reader->stacked == reader->stack_room && !grow_stack(reader))
        return false;
    reader->stack[reader->stacked++] = *part;
    return true;
}

static bool json_key_is(const struct json *member, const char *key, uint32_t length)
{
    return member->key_length == length && member->key[0] == key[0] &&
           memcmp(member->key, key, length) == 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct json *x = *(const struct json *const *)a, *y = *(const struct json *const *)b;

    if (x->key_length != y->key_length)
        return x->key_length < y->key_length ? -1 : 1;
    return memcmp(x->key, y->key, x->key_length);
}

/* The error names the second of them. */
static bool fail_twice(struct reader *reader, const struct json *one, const struct json *other)
{
    const char *second = one->key > other->key ? one->key : other->key;

    reader->at = reader->begin + (second - reader->begin);
    return fail(reader, "the same key twice");
}

static bool are_many_keys_unique(struct reader *reader, const struct json *members, size_t count)
{
    const struct json **sorted = mem_new(count * sizeof *sorted);
    bool is_unique = true;

    if (!sorted)
        return fail_memory(reader);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &members[i];
    qsort(sorted, count, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < count && is_unique; i++)
        is_unique = compare_keys(&sorted[i - 1], &sorted[i]) != 0 ||
                    fail_twice(reader, sorted[i - 1], sorted[i]);
    free(sorted);
    return is_unique;
}

static bool are_keys_unique(struct reader *reader, const struct json *members, size_t count)
{
    if (count > FEW_MEMBERS)
        return are_many_keys_unique(reader, members, count);
    for (size_t i = 1; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (json_key_is(&members[i], members[k].key, members[k].key_length))
                return fail_twice(reader, &members[k], &members[i]);
        }
    }
    return true;
}

/* The parts of what is closed now move from the stack into the document. */
static bool close_parts(struct reader *reader, size_t first, struct json *out)
{
    size_t count = reader->stacked - first;
    uint32_t place = (uint32_t)(reader->free_value - reader->document->values);

    out->of.parts = reader->free_value;
    out->length = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        reader->free_value[i] = reader->stack[first + i];
        reader->free_value[i].place = place + (uint32_t)i;
    }
    reader->free_value += count;
    reader->stacked = first;
    return out->kind != KIND_OBJECT || are_keys_unique(reader, out->of.parts, count);
}

static bool read_key(struct reader *reader, struct json *member)
{
    skip_blanks(reader);
    if (!skip(reader, '"') || !read_text(reader, &member->key, &member->key_length))
        return fail_syntax(reader);
    if (reader->has_nul) /* names are compared as C strings */
        return fail_syntax(reader);
    skip_blanks(reader);
    return skip(reader, ':') || fail_syntax(reader);
}

/* Behind the opening bracket. */
static bool read_parts(struct reader *reader, int depth, char close, struct json *out)
{
    size_t first = reader->stacked;
    const char *at;

    if (depth > JSON_MAX_DEPTH)
        return fail(reader, "too many levels");
    skip_blanks(reader);
    if (skip(reader, close))
        return close_parts(reader, first, out);
    do {
        struct json part = { 0 };

        if (out->kind == KIND_OBJECT && !read_key(reader, &part))
            return false;
        skip_blanks(reader);
        at = reader->at;
        if (!read_value(reader, depth, &part) || !push(reader, &part))
            return false;
        if (reader->wanted && depth == 1 && part.key && strcmp(part.key, reader->wanted) == 0) {
            reader->wanted_at = (size_t)(at - reader->begin);
            reader->wanted_end = (size_t)(reader->at - reader->begin);
        }
        skip_blanks(reader);
    } while (skip(reader, ','));
    return skip(reader, close) ? close_parts(reader, first, out) : fail_syntax(reader);
}

static bool read_value(struct reader *reader, int depth, struct json *out)
{
    skip_blanks(reader);
    switch (*reader->at) {
    case '"':
        reader->at++;
        out->kind = KIND_TEXT;
        return read_text(reader, &out->of.text, &out->length);
    case '{':
        reader->at++;
        out->kind = KIND_OBJECT;
        return read_parts(reader, depth + 1, '}', out);
    case '[':
        reader->at++;
        out->kind = KIND_LIST;
        return read_parts(reader, depth + 1, ']', out);
    case 't':
        out->kind = KIND_BOOL;
        out->of.is_yes = true;
        return read_word(reader, "true");
    case 'f':
        out->kind = KIND_BOOL;
        return read_word(reader, "false");
    case 'n':
        out->kind = KIND_NULL;
        return read_word(reader, "null");
    default:
        return read_number(reader, out);
    }
}

/* Each value but the first stands behind a comma or an opening bracket; those differ in one bit. */
static bool begins_value(char byte)
{
    return (byte == ',') | ((byte | 0x20) == '{');
}

/* In lanes of a byte each, side by side; no lane counts further than a byte does. */
static size_t max_values(const char *bytes, size_t length)
{
    enum { LANES = 16, LANE_MAX = UINT8_MAX };
    size_t count = 1;

    while (length >= LANES) {
        uint8_t lanes[LANES] = { 0 };

        for (int turn = 0; turn < LANE_MAX && length >= LANES; turn++) {
            for (int i = 0; i < LANES; i++)
                lanes[i] = (uint8_t)(lanes[i] + begins_value(bytes[i]));
            bytes += LANES;
            length -= LANES;
        }
        for (int i = 0; i < LANES; i++)
            count += lanes[i];
    }
    for (size_t i = 0; i < length; i++)
        count += begins_value(bytes[i]);
    return count;
}

bool json_parse(const char *bytes, size_t length, struct json **ret_value, struct error *err)
{
    return json_parse_message(bytes, length, NULL, NULL, ret_value, err);
}

struct json *json_of(const char *text)
{
    struct json *value = NULL;

    if (text)
        json_parse(text, strlen(text), &value, NULL);
    return value;
}

bool json_parse_message(const char *bytes, size_t length, const char *key,
                        struct json_piece *ret_piece, struct json **ret_value, struct error *err)
{
    struct json few[STACK_FEW]; /* most documents need no more */
    size_t room = max_values(bytes, length) * sizeof(struct json);
    struct reader reader = { .few = few, .stack = few, .stack_room = STACK_FEW, .wanted = key };
    struct json root = { 0 };
    bool ok;

    COUNT_JSON(true);
    if (length > UINT32_MAX / 2)
        return error_set(err, ERROR_bad_json, "", "not readable as JSON: too long");
    reader.document = mem_resize(NULL, sizeof *reader.document + room + length + READ_PAST);
    if (!reader.document)
        return error_set_no_memory(err);
    reader.document->owners = 1;
    reader.document->has_huge = false;
    reader.free_value = reader.document->values + 1;
    reader.begin = reader.at = (char *)reader.document->values + room;
    reader.end = reader.begin + length;
    if (length)
        memcpy(reader.begin, bytes, length);
    memset(reader.end, 0, READ_PAST);
    ok = read_value(&reader, 0, &root);
    skip_blanks(&reader);
    if (ok && reader.at != reader.end)
        ok = fail_syntax(&reader);
    if (reader.stack != few)
        free(reader.stack);
    if (!ok) {
        /* Where, but not what: the input may be hostile and is not repeated. */
        if (reader.is_out_of_memory)
            error_set_no_memory(err);
        else
            error_set(err, ERROR_bad_json, "", "not readable as JSON: %s at byte %zu",
                      reader.problem, (size_t)(reader.at - reader.begin));
        free(reader.document);
        return false;
    }
    reader.document->values[0] = root;
    *ret_value = reader.document->values;
    if (ret_piece)
        *ret_piece = reader.wanted_end ? (struct json_piece){ bytes + reader.wanted_at,
                                                              reader.wanted_end - reader.wanted_at }
                                       : (struct json_piece){ NULL, 0 };
    return true;
}

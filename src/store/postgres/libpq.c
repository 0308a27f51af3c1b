#include "store/postgres/libpq.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/text.h"
#include "store/columns.h"

struct libpq libpq;

static const struct os_function functions[] = {
#define LIBPQ_ROW(name) { "PQ" #name, offsetof(struct libpq, name), OS_LINKED(PQ##name) },
    LIBPQ_FUNCTIONS(LIBPQ_ROW)
};

bool libpq_load(struct error *err)
{
    const char *missing;

    if (os_load("libpq.so.5", functions, ARRAY_LEN(functions), &libpq, &missing))
        return true;
    if (missing)
        return error_set(err, ERROR_unavailable, "",
                         "PostgreSQL's client library libpq.so.5 is too old (%s is missing): "
                         "install the one of PostgreSQL 14 or newer",
                         missing);
    return error_set(err, ERROR_unavailable, "",
                     "the store is PostgreSQL, but its client library libpq.so.5 is not here: "
                     "install it (Debian, Ubuntu: apt-get install libpq5)");
}

/* Codes: PostgreSQL's documentation, appendix A. */

/* The first row whose code begins a state is meant: a class has two characters. */
static const struct {
    const char *code;
    enum fault fault;
} by_state[] = {
    { "40001", FAULT_AGAIN },    { "40P01", FAULT_AGAIN },   { "55P03", FAULT_AGAIN },
    { "57014", FAULT_AGAIN },    { "26000", FAULT_SESSION }, { "42P05", FAULT_SESSION },
    { "25006", FAULT_GONE },     { "25P03", FAULT_GONE },    { "25P04", FAULT_GONE },
    { "08", FAULT_GONE },        { "57P", FAULT_GONE },      { "F0", FAULT_GONE },
    { "53", FAULT_FULL },        { "54000", FAULT_FULL },    { "58030", FAULT_FULL },
    { "42501", FAULT_RIGHTS },   { "42P01", FAULT_SCHEMA },  { "42883", FAULT_SCHEMA },
    { "42703", FAULT_SCHEMA },   { "3F000", FAULT_SCHEMA },  { "28", FAULT_LOGIN },
    { "3D000", FAULT_DATABASE },
};
static const char *const remedies[FAULT_COUNT] = {
    [FAULT_NONE] = "the database refused this",
    [FAULT_DATA] = "the database refused this; nothing of it was stored",
    [FAULT_AGAIN] = "the database is too busy; nothing was stored: try again",
    [FAULT_SESSION] = "the pooler before the database mixes sessions up: try again",
    [FAULT_GONE] = "the database does not answer; nothing was stored: try again",
    [FAULT_FULL] = "the database has no room left (disk, memory or connections); nothing was "
                   "stored: make room, then try again",
    [FAULT_RIGHTS] = "our user may not do this in the database: let it own the schema, or "
                     "GRANT ALL ON SCHEMA public to it",
    [FAULT_SCHEMA] = "tables or functions of sayso are missing in the database: restart sayso, "
                     "it makes them anew",
    [FAULT_LOGIN] = "the database refused the user or the password: look at the setting store, "
                    "or at ~/.pgpass and the server's pg_hba.conf",
    [FAULT_DATABASE] = "the server has no database of that name: make it with createdb, or name "
                       "another in the setting store",
};

enum fault fault_of_state(const char *sqlstate)
{
    if (!*sqlstate)
        return FAULT_GONE;
    for (size_t i = 0; i < ARRAY_LEN(by_state); i++) {
        if (strncmp(sqlstate, by_state[i].code, strlen(by_state[i].code)) == 0)
            return by_state[i].fault;
    }
    return FAULT_DATA;
}

const char *fault_state(const PGresult *result)
{
    const char *state = result ? libpq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    return state ? state : "";
}

enum fault fault_of(const PGresult *result)
{
    switch (libpq.resultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        return FAULT_NONE;
    case PGRES_PIPELINE_ABORTED:
        return FAULT_AGAIN; /* something before it was refused */
    default:
        return fault_of_state(fault_state(result));
    }
}

void fault_describe(enum fault fault, const char *sqlstate, struct error *err)
{
    error_set(err, ERROR_storage_failed, "", "%s%s%s%s", remedies[fault],
              *sqlstate ? " (SQLSTATE " : "", sqlstate, *sqlstate ? ")" : "");
}

static int next_param(struct params *params)
{
    if (params->count >= PARAMS_MAX)
        abort(); /* a statement of ours with too many */
    return params->count++;
}

static void add(struct params *params, const void *bytes, size_t length, bool is_binary)
{
    params->each[next_param(params)] = (struct param){
        .at = params->bytes.used,
        .length = (int)length,
        .is_null = !bytes,
        .is_binary = is_binary,
    };
    if (bytes) {
        text_add(&params->bytes, bytes, length);
        text_add_char(&params->bytes, '\0');
    }
}

void params_text(struct params *params, const char *text_or_null)
{
    add(params, text_or_null, text_or_null ? strlen(text_or_null) : 0, false);
}

void params_add(struct params *params, const struct column_value *values, size_t count)
{
    char digits[TEXT_INTEGER_BYTES];

    for (size_t i = 0; i < count; i++) {
        const struct column_value *value = &values[i];

        if (value->kind == VALUE_NUMBER)
            params_text(params, text_of_integer(value->number, digits));
        else if (value->kind == VALUE_BYTES)
            add(params, value->bytes, value->bytes ? value->length : 0, true);
        else
            params_text(params, value->kind == VALUE_TEXT ? value->bytes : NULL);
    }
}

void params_values(struct params *params, const struct column *list, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        struct column_value value = column_value(&list[i], from);

        params_add(params, &value, 1);
    }
}

enum params_element params_element_of(const struct column *column)
{
    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_FILLED:
    case COLUMN_CHARS:
        return PARAMS_TEXT;
    case COLUMN_BYTES:
    case COLUMN_HASH:
        return PARAMS_BYTES;
    default:
        return PARAMS_NUMBER;
    }
}

static void add_big_endian(struct text *out, uint64_t number, size_t bytes)
{
    while (bytes-- > 0)
        text_add_char(out, (char)(number >> 8 * bytes));
}

static void add_binary(struct text *out, const struct column_value *value)
{
    size_t length = value->kind == VALUE_TEXT ? strlen(value->bytes) : value->length;

    if (value->kind == VALUE_NULL) {
        add_big_endian(out, UINT32_MAX, 4);
    } else if (value->kind == VALUE_NUMBER) {
        add_big_endian(out, sizeof value->number, 4);
        add_big_endian(out, (uint64_t)value->number, sizeof value->number);
    } else {
        add_big_endian(out, length, 4);
        text_add(out, value->bytes, length);
    }
}

/* Its head: dimensions, whether any is NULL, whose type; of the dimension length and first index.
 */
void params_array(struct params *params, enum params_element element,
                  const struct column_value *values, size_t count)
{
    const uint64_t head[] = { 1, 1, element, count, 1 };
    size_t at = params->bytes.used;

    for (size_t i = 0; i < ARRAY_LEN(head); i++)
        add_big_endian(&params->bytes, head[i], 4);
    for (size_t i = 0; i < count; i++)
        add_binary(&params->bytes, &values[i]);
    params->each[next_param(params)] =
        (struct param){ .at = at, .length = (int)(params->bytes.used - at), .is_binary = true };
}

void params_release(struct params *params)
{
    text_release(&params->bytes);
    params->count = 0;
}

void params_look(const struct params *params, struct params_view *out)
{
    for (int i = 0; i < params->count; i++) {
        const struct param *param = &params->each[i];

        out->values[i] = param->is_null ? NULL : params->bytes.bytes + param->at;
        out->lengths[i] = param->length;
        out->formats[i] = param->is_binary;
    }
}

void params_add_element(struct text *out, const char *text, size_t length)
{
    text_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            text_add_char(out, '\\');
        text_add_char(out, text[i]);
    }
    text_add_char(out, '"');
}

int result_count(const PGresult *result)
{
    return libpq.ntuples(result);
}

bool result_is_null(const PGresult *result, int row, int column)
{
    return row >= libpq.ntuples(result) || column >= libpq.nfields(result) ||
           libpq.getisnull(result, row, column);
}

const char *result_text(const PGresult *result, int row, int column)
{
    return result_is_null(result, row, column) ? NULL : libpq.getvalue(result, row, column);
}

int64_t result_integer(const PGresult *result, int row, int column)
{
    const char *text = result_text(result, row, column);
    int64_t number;

    return text && text_parse_integer(text, &number) ? number : 0;
}

bool result_flag(const PGresult *result, int row, int column)
{
    const char *text = result_text(result, row, column);

    return text && text[0] == 't';
}

void result_bytes(const PGresult *result, int row, int column, void *out, size_t size)
{
    const char *text = result_text(result, row, column);
    uint8_t *bytes = out;

    memset(out, 0, size);
    if (!text || text[0] != '\\' || text[1] != 'x')
        return;
    text += 2;
    for (size_t i = 0; i < size; i++, text += 2) {
        int byte = column_hex_byte(text);

        if (byte < 0)
            return; /* or the end */
        bytes[i] = (uint8_t)byte;
    }
}

void result_column(const PGresult *result, int row, int at, const struct column *column, void *out)
{
    const char *text = result_text(result, row, at);

    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_FILLED:
        column_take_text(column, text, out);
        break;
    case COLUMN_CHARS:
        column_take_bytes(column, text, text ? strlen(text) : 0, out);
        break;
    case COLUMN_BYTES:
    case COLUMN_HASH:
        result_bytes(result, row, at, (char *)out + column->offset, column->size);
        break;
    default:
        column_take_number(column, result_integer(result, row, at), out);
    }
}

void result_read(const PGresult *result, int row, int first, const struct columns *columns,
                 void *out)
{
    memset(out, 0, columns->size);
    for (size_t i = 0; i < columns->count; i++)
        result_column(result, row, first + (int)i, &columns->list[i], out);
}

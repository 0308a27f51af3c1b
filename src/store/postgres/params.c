/* params.c - see params.h. */
#include "store/postgres/params.h"

#include <stdlib.h>

#include "store/columns.h"

static void add(struct params *params, const void *bytes, size_t length, bool is_binary)
{
    if (params->count >= PARAMS_MOST)
        abort(); /* a statement of ours with too many */
    params->each[params->count++] = (struct param){
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

void params_integer(struct params *params, int64_t number)
{
    char room[TEXT_INTEGER_BYTES];

    params_text(params, text_of_integer(number, room));
}

void params_flag(struct params *params, bool flag)
{
    params_text(params, flag ? "t" : "f");
}

void params_bytes(struct params *params, const void *bytes_or_null, size_t length)
{
    add(params, bytes_or_null, bytes_or_null ? length : 0, true);
}

void params_values(struct params *params, const struct column *list, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        struct column_value value = column_value(&list[i], from);

        if (value.kind == VALUE_NUMBER)
            params_integer(params, value.number);
        else if (value.kind == VALUE_BYTES)
            params_bytes(params, value.bytes, value.length);
        else
            params_text(params, value.kind == VALUE_TEXT ? value.bytes : NULL);
    }
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

void params_add_element(struct text *out, const char *text)
{
    text_add_char(out, '"');
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            text_add_char(out, '\\');
        text_add_char(out, *at);
    }
    text_add_char(out, '"');
}

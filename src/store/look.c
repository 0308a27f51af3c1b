/* look.c - an ask by its id, on the writer's thread. */
#include <string.h>

#include "store/write.h"

/* Ids are random, so three of their characters spread well; anything else fits into a place too. */
static struct write_hint *place_of(struct write *write, const char *id)
{
    unsigned place = 0;

    for (size_t i = 0; i < 3 && id[i]; i++)
        place = place * 131 + (unsigned char)id[i];
    return &write->hints[place % WRITE_HINTS];
}

void write_hint(struct write *write, const char *id, const struct found *ask)
{
    struct write_hint *hint = place_of(write, id);
    size_t length = strnlen(id, sizeof hint->id - 1);

    hint->ask = *ask;
    memcpy(hint->id, id, length);
    hint->id[length] = '\0';
}

struct found write_hinted(struct write *write, const char *id)
{
    const struct write_hint *hint = place_of(write, id);

    return strcmp(hint->id, id) == 0 ? hint->ask : (struct found){ 0 };
}

static int read_found(struct statement *look, struct found *ret_found)
{
    *ret_found = (struct found){ 0 };
    if (statement_step(look)) {
        ret_found->number = sqlite3_column_int64(look->handle, 0);
        ret_found->state = sqlite3_column_int64(look->handle, 1);
        ret_found->version = sqlite3_column_int64(look->handle, 2);
        ret_found->seq = sqlite3_column_int64(look->handle, 3);
    }
    return statement_end(look);
}

int write_look(struct write *write, const char *id, struct found *ret_found)
{
    int64_t hinted = write_hinted(write, id).number;
    struct statement look;
    int rc = SQLITE_OK;

    *ret_found = (struct found){ 0 };
    if (hinted) {
        look = statement_of(&write->statements, STATEMENT_LOOK);
        statement_integer(&look, hinted);
        statement_text(&look, id);
        rc = read_found(&look, ret_found);
    }
    if (rc != SQLITE_OK || ret_found->number)
        return rc;
    look = statement_of(&write->statements, STATEMENT_SEARCH);
    statement_text(&look, id);
    return read_found(&look, ret_found);
}

/*
 * reads.h - what both stores read in the same way: a statement with its values, what its rows are,
 * and who is told. The stores differ in how they run it, and in their SQL.
 */
#ifndef STORE_READS_H
#define STORE_READS_H
#include <stdbool.h>
#include <stddef.h>

#include "store/columns.h"
#include "store/store.h"

/* By the names of SQLite's statements; PostgreSQL has no statement for what lies in its cache. */
enum read_statement {
#define STATEMENT(id, ...) READ_##id,
#include "store/sqlite_read.def"
#undef STATEMENT
    READ_COUNT
};

/* Who is told, and of what kind the rows are. */
struct reading {
    const struct read_rows {
        const struct columns *columns;
        /* `row` is as the columns say; NULL: that is all, and `err` is as in store.h. */
        void (*tell)(const struct reading *reading, const void *row, const struct error *err);
        bool is_one; /* told once: of the row, or that there is none */
    } * rows;
    union {
        store_done *one;
        store_each *each;
        store_draft_done *draft;
        store_said_each *said;
        store_conversation_each *conversation;
        store_conversation_event_each *event;
        store_pair *pair;
        store_token_each *token;
        store_rule_each *rule;
        store_key_each *key;
    } to;
    void *context;
};
/* Room for a row of any kind. */
union read_row {
    struct store_row ask;
    struct store_draft draft;
    struct store_said said;
    struct store_conversation conversation;
    struct store_conversation_event event;
    struct store_setting setting;
    struct store_token token;
    struct store_rule rule;
    struct store_key key;
    struct store_meta fact;
};
/* One ask, for store_done; and a list of them, for store_each. */
extern const struct read_rows read_one_ask, read_asks;
/* Of a struct store_draft: the stores select other columns of it. */
void read_tell_draft(const struct reading *reading, const void *row, const struct error *err);

enum { READ_LIST_VALUES = 8 };
/* What the statements of store_ops.list take: those that begin with READ_LIST. */
void read_list_values(const struct store_list_query *query, size_t limit,
                      struct column_value out[READ_LIST_VALUES]);

/* Of history: what a look at a thing costs, in microseconds or so, and how much is enough. */
enum { COST_NUMBER = 1, COST_ROW = 6, COST_TEXT = 16, COST_MAX = 20000 };
int64_t read_until(const struct store_history_query *query);
/* How many bytes the next three characters of a word have; 0: there are no three. */
size_t read_three(const char *at, const char *end);

/* Each member of struct store_ops that reads is a function of its name behind `reader_` or `pg_`,
 * or behind `both_`, of the type that the member has. */
#define STORE_FUNCTION(prefix, name) __typeof__(*((struct store_ops *)0)->name) prefix##name;
#define STORE_READS(OP)                                                                            \
    OP(get)                                                                                        \
    OP(list)                                                                                       \
    OP(list_active)                                                                                \
    OP(history)                                                                                    \
    OP(get_draft)                                                                                  \
    OP(meta)
#define STORE_READS_OF_BOTH(OP)                                                                    \
    OP(find_undelivered)                                                                           \
    OP(list_undelivered)                                                                           \
    OP(get_conversation)                                                                           \
    OP(find_conversation)                                                                          \
    OP(list_conversations)                                                                         \
    OP(list_conversation_events)                                                                   \
    OP(list_said)                                                                                  \
    OP(list_settings)                                                                              \
    OP(list_tokens)                                                                                \
    OP(list_rules)                                                                                 \
    OP(list_keys)                                                                                  \
    OP(get_client_fact)
#define BOTH_FUNCTION(name) STORE_FUNCTION(both_, name)
#define BOTH_MEMBER(name)   .name = both_##name,
STORE_READS_OF_BOTH(BOTH_FUNCTION)

#endif

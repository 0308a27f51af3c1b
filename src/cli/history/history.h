/* history.h - what the commands that look back share, and those that move a store. */
#ifndef CLI_HISTORY_HISTORY_H
#define CLI_HISTORY_HISTORY_H
#include "cli/hub_call.h"

/* The options that are filters, for a verb's table. */
#define LOOK_BACK_OPTIONS                                                                          \
    { "agent", 0, "NAME", TEXT_OPT_HISTORY_AGENT, false },                                         \
        { "status", 0, "STATUS", TEXT_OPT_HISTORY_STATUS, false },                                 \
        { "via", 0, "CHANNEL", TEXT_OPT_HISTORY_VIA, false },                                      \
        { "since", 0, "TIME", TEXT_OPT_HISTORY_SINCE, false },                                     \
    {                                                                                              \
        "before", 0, "TIME", TEXT_OPT_HISTORY_BEFORE, false                                        \
    }

/* Asks that are found by filters, page by page. A page may come short while there is more: the hub
 * ends it when looking takes long. */
struct look_back {
    const struct arguments *arguments;
    char *search; /* owned; NULL: any */
    int64_t since_ms, until_ms;
    bool is_whole; /* with form, answer and result */
    bool is_over;
    char next[48];
};
/* False: said what is wrong with the options. `take_search` is the words; NULL: none. */
bool look_back_init(struct look_back *look, const struct arguments *arguments, bool is_whole,
                    char *take_search);
void look_back_release(struct look_back *look);
bool look_back_has_filters(const struct look_back *look);
/* At most `limit` asks more, in reply->result's `asks`; is_over tells whether those were the last.
 * False: said why. The caller releases *ret_reply either way. */
bool look_back_page(struct look_back *look, struct client *link, int64_t limit,
                    struct rpc_message *ret_reply);

/* How an ask is exported. To add a format: its functions and a row in record_formats.c. */
struct record_format {
    const char *name;
    void (*begin)(struct text *out); /* NULL: nothing stands first */
    void (*add)(const struct json *record, struct text *out);
};
const struct record_format *record_format_find(const char *name); /* NULL: said, there is none */

/* import.c: how far a long command is, one line on standard error where that is a terminal. */
struct progress {
    enum text_id what;
    bool is_on;
    int64_t drawn_ms; /* when it was drawn last */
    int shown;        /* the permille it shows; -1: nothing yet */
    bool is_counted, is_plain;
    int64_t began_ms, first; /* when, and where it began */
};
struct progress progress_begin(enum text_id what);
/* With how many a second; where there is no terminal as a line now and then. */
struct progress progress_begin_counted(enum text_id what, bool is_quiet);
void progress_show(struct progress *progress, int64_t done, int64_t all);
void progress_end(struct progress *progress); /* the line is gone again */

#endif

/*
 * history.h - asks that are found by filters, page by page, for the commands that look back.
 * A page may come short while there is more: the hub ends it when looking takes long.
 */
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
                    struct wire_message *ret_reply);

/* What was answered, a line below the ask; nothing where it was not. */
void history_print_answer(const struct json *ask);

#endif

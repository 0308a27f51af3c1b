/* close.h - verbs that end or change an ask with one call: cancel, decline, extend,
 * reply, withdraw. */
#ifndef CLI_CLOSE_H
#define CLI_CLOSE_H
#include "cli/verb.h"
#include "wire/link.h"

struct close_call {
    const char *method;
    enum text_id done; /* takes {title}, {id}, {seconds} */
    const struct link_identity *identity;
    int64_t seconds;  /* 0: not sent */
    const char *text; /* NULL: not sent */
};
enum exit_code close_ask(const struct arguments *arguments, const struct close_call *call);

#endif

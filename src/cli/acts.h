/* acts.h - verbs with a word for what to do, such as `token new`: a row each, one call to the hub.
 */
#ifndef CLI_ACTS_H
#define CLI_ACTS_H
#include "cli/verb.h"

struct json;
struct link;
struct text;

struct act {
    const char *name;
    size_t words; /* this one included */
    const char *method;
    /* Adds the parameters; false: said what is wrong. */
    bool (*write)(const struct arguments *arguments, struct text *params);
    /* For people; with --json the member `shown` of the result is printed, NULL: all of it. */
    void (*print)(const struct arguments *arguments, const struct json *result);
    const char *shown;
    /* Instead of both: false: said what went wrong. */
    bool (*finish)(const struct arguments *arguments, struct link *link, const struct json *result);
};

/* Without a word the first row. `syntax` is shown where none fits. */
enum exit_code acts_run(const struct arguments *arguments, const struct act *acts, size_t count,
                        const char *syntax);
bool acts_write_nothing(const struct arguments *arguments, struct text *params);
/* {"id": the second word} */
bool acts_write_id(const struct arguments *arguments, struct text *params);

#endif

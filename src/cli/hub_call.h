/* hub_call.h - conversations with the hub, and acts: what a verb asks it in one call, as a row. */
#ifndef CLI_HUB_CALL_H
#define CLI_HUB_CALL_H
#include <stdbool.h>

#include "cli/verb.h"
#include "rpc/client.h"

struct settings;

extern const struct client_identity call_person;

/* Who runs `sayso ask` in this directory: whose ask it is follows from the name and the place. */
struct client_identity call_asker(const struct arguments *arguments, const char *directory);

/* As far as no hub is needed for them; the caller frees. */
struct settings *call_settings(void);

/* Sends and receives; false: the error was said. The caller releases the reply either way. */
bool call_hub(const struct arguments *arguments, struct client *link, const char *method,
              const char *params_json, struct rpc_message *ret_reply);
const struct json *call_detail(const struct rpc_message *reply); /* of a refusal; NULL: none */
/* False, and said: a reply without this text is not from a hub of ours. */
bool call_expect(const struct arguments *arguments, const struct json *part, const char *member);
bool call_open(const struct arguments *arguments, const struct client_identity *identity,
               struct client **ret_link); /* false: said */
/* To the hub that runs, as a person; none is started. Nothing is said. */
bool call_look(struct client **ret_link, struct error *err);
/* To the hub that runs, if one does. False: none (then `absent_json` or a sentence was said
 * and *ret_code is EXIT_DONE), or an error was said. */
bool call_open_running(const struct arguments *arguments, const struct client_policy *policy,
                       const char *absent_json, struct client **ret_link, enum exit_code *ret_code);
/* Where we are, as text, escaped where it is none; the caller frees; NULL: nowhere. */
char *call_directory(void);
/* In the language that the person saved, if a hub runs: for verbs that go on without one. */
void call_speak_as_saved(void);
/* In the language of the agent's client, where the person has chosen none. */
void call_speak_as_asked(const struct json *ask);
/* {key: value}, or {} where the value is NULL; the caller frees. */
char *call_params(const char *key, const char *value);
/* Tells the hub that the agent has this result, and the notices in that one (NULL: none); also one
 * that comes after a person stopped the last. Call it after they were printed: an answer that was
 * printed is never given to another call, and one that was not is kept for the next. */
void call_confirm(struct client *link, const char *result_of, const char *notices_of);

/* One call to the hub as a person. */
struct act {
    const char *name; /* of a verb with a word for what to do, such as `token new` */
    size_t words;     /* this one included */
    const char *method;
    /* Adds the parameters; false: said what is wrong. NULL: there are none. */
    bool (*write)(const struct arguments *arguments, struct text *params);
    /* For people; with --json the member `shown` of the result is printed, NULL: all of it. */
    void (*print)(const struct arguments *arguments, const struct json *result);
    const char *shown;
    /* That is a list: prints one item; `none` is said where there is no item. */
    void (*print_item)(const struct arguments *arguments, const struct json *item);
    enum text_id none;
    /* Instead of both: false: said what went wrong. */
    bool (*finish)(const struct arguments *arguments, struct client *link,
                   const struct json *result);
};
/* That of the verb's acts which the first word names: without a word, or a name, the first one. */
enum exit_code act_choose(const struct arguments *arguments);
bool act_write_id(const struct arguments *arguments, struct text *params); /* {"id": word 1} */
/* {"session_id": word 0}, or {} */
bool act_write_session(const struct arguments *arguments, struct text *params);

#endif

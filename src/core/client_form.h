/*
 * client_form.h - what an agent's own client brings back of a form it showed (R4.2, R4.3).
 * Whoever writes the form (mcp/form_schema) and whoever reads the content agree on its keys here:
 * a field's name holds its value; an option that had to be a yes or no of its own, words beside
 * options, and the note have keys made from it. Which way a field was written shows in the content.
 */
#ifndef CORE_CLIENT_FORM_H
#define CORE_CLIENT_FORM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct form;
struct json;
struct text;

/* What a yes or no may come back as, where a choice was offered instead. */
#define CLIENT_FORM_YES "yes"
#define CLIENT_FORM_NO  "no"

/* Each is appended; none is the name of a field. */
void client_form_option_key(const struct form *form, size_t field, size_t option, struct text *out);
void client_form_words_key(const struct form *form, size_t field, struct text *out);
void client_form_note_key(const struct form *form, struct text *out);

/* From content to what answer_check reads. Every field is said something about, since nobody knows
 * whether a client showed its defaults: what is not there is left empty, never the default. False:
 * there is nothing in it that the form asked for. */
bool client_form_read(const struct form *form, const struct json *content, struct text *out,
                      struct error *err);

/* What a client's reply means. Nobody reads a question and refuses it within 2 s: then nobody was
 * there, or nothing was shown; except for a decline by a client that never declines by itself. */
enum { CLIENT_FORM_SEEN_MS = 2000 };
enum client_verdict { CLIENT_FAILED, CLIENT_ANSWERS, CLIENT_DECLINES, CLIENT_CANCELS };
enum client_verdict client_form_judge(const char *client_name, const char *action,
                                      int64_t shown_ms);

/*
 * What is known of a client's form: CLIENT_FORM_WORKS once a person has used it, which nothing
 * unlearns; or minus the UTC time at which it was found not to work, which counts for a day,
 * because the same program may run with a person in front of it next time; 0: nothing.
 */
enum { CLIENT_FORM_WORKS = 1, CLIENT_FORM_BROKEN_MS = 86400000 };
bool client_form_is_broken(int64_t fact, int64_t utc_ms);
int64_t client_form_learn(int64_t fact, bool worked, int64_t utc_ms);

#endif

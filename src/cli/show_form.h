/* show_form.h - a form on the screen: what is asked, and what may be answered. */
#ifndef CLI_SHOW_FORM_H
#define CLI_SHOW_FORM_H

struct arguments;
struct json;

/* Forms as form_encode wrote them. What may be answered goes among our rows, where the agent's
 * words never begin a line; what is asked is the agent's, and indented. */
void show_limits(const struct json *form);
void show_form(const struct json *form);

/* show.c: a result of ask/get, as `sayso show` prints it. */
void show_whole(const struct arguments *arguments, const struct json *got);

#endif

/* show.h - one ask on the screen: the question, its options, how it ended. */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

struct arguments;
struct json;

/* A result of ask/get, as `sayso show` prints it. */
void show_whole(const struct arguments *arguments, const struct json *got);

#endif

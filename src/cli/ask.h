/* ask.h - the arguments of provide_choice as JSON text, from options or from a file. */
#ifndef CLI_ASK_H
#define CLI_ASK_H
#include <stdbool.h>

#include "cli/verb.h"

struct error;
struct text;

/* `path` "-" is standard input. */
bool ask_arguments_from_file(const char *path, struct text *out, struct error *err);

#endif

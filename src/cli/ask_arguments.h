/* ask_arguments.h - the arguments of provide_choice as JSON text, from options or from a file. */
#ifndef CLI_ASK_ARGUMENTS_H
#define CLI_ASK_ARGUMENTS_H
#include <stdbool.h>

#include "cli/verb.h"

struct error;
struct text;

bool ask_arguments_from_options(const struct arguments *arguments, struct text *out); /* or said */
/* `path` "-" is standard input. */
bool ask_arguments_from_file(const char *path, struct text *out, struct error *err);

#endif

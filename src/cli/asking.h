/* asking.h - being the one who asked: what `sayso ask` and `sayso explain` share. */
#ifndef CLI_ASKING_H
#define CLI_ASKING_H
#include "cli/verb.h"

enum { ASKING_NAME_BYTES = 200 }; /* of --as */

/* Tells a person who asked back, as the one who asked (--as, this directory), and goes on waiting
 * (--wait) for the answer; what is printed and returned is as after `sayso ask`. */
enum exit_code asking_explain(const struct arguments *arguments, const char *session_id,
                              const char *explanation);

#endif

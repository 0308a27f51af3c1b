/* open.h - what to say of a link, once a browser was looked for. */
#ifndef CLI_OPEN_H
#define CLI_OPEN_H
#include "base/os.h"

/* To standard error; `url` is the link without its code. */
void open_say(enum os_browser outcome, const char *url);

#endif

/* completion.h - which shells `sayso completion` has a script for. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

extern const char completion_shells[]; /* "bash|zsh|fish" */

#endif

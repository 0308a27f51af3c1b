/* aside.h - moves a damaged database out of the way, never over anything that is there. */
#ifndef STORE_ASIDE_H
#define STORE_ASIDE_H
#include <stdbool.h>

struct error;

/* ret_path: owned; where the file is now. Its log goes with it. */
bool aside_move(const char *path, char **ret_path, struct error *err);

#endif

/*
 * sole_user.h - whether a machine has one human user, by its account files (R12.2). Pure. Whatever
 * isn't understood says no.
 */
#ifndef CORE_SOLE_USER_H
#define CORE_SOLE_USER_H
#include <stdbool.h>
#include <stdint.h>

/* As text, each as it lies in /etc. */
struct account_files {
    const char *login_defs, *nsswitch, *passwd;
};
/* True: this user has the only account with a login shell in UID_MIN to UID_MAX, and accounts come
 * from no network directory. */
bool sole_user_is(const struct account_files *files, int64_t uid);

#endif

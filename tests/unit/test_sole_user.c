/* Who has a machine to themselves, by its account files (core/ownership.h). Proves: R12.2 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/ownership.h"

#define DEFS    "# comment\nUMASK 022\nUID_MIN\t\t\t 1000\nUID_MAX\t\t\t60000\n"
#define LOCAL   "passwd:         files systemd\ngroup: files sss\n"
#define SYSTEM  "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/usr/sbin/nologin\n"
#define ME      "me:x:1000:1000:Me,,,:/home/me:/bin/bash\n"
#define NOBODY  "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
#define SERVICE "svc:x:1001:1001::/srv:/usr/sbin/nologin\nftp:x:1002:1002::/srv:/bin/false\n"

static const struct {
    const char *what, *login_defs, *nsswitch, *passwd;
    bool is_sole;
} cases[] = {
    { "one account", DEFS, LOCAL, SYSTEM ME NOBODY, true },
    { "others can't log in", DEFS, LOCAL, SYSTEM ME SERVICE NOBODY, true },
    { "no line end", DEFS, "passwd: files", SYSTEM "me:x:1000:1000::/:/bin/sh", true },
    { "defaults of UID_MIN and UID_MAX", "# none\n", LOCAL, ME, true },
    { "compat without inclusions", DEFS, "passwd: compat # sss\n", ME, true },
    { "an empty shell is /bin/sh", DEFS, LOCAL, "me:x:1000:1000::/home/me:\n", true },
    { "two", DEFS, LOCAL, ME "you:x:1001:1001::/home/you:/bin/zsh\n", false },
    { "two, an empty shell", DEFS, LOCAL, ME "you:x:1001:1001::/home/you:\n", false },
    { "two accounts of one user", DEFS, LOCAL, ME "me2:x:1000:1000::/home/me:/bin/sh\n", false },
    { "none", DEFS, LOCAL, SYSTEM NOBODY, false },
    { "one, but another", DEFS, LOCAL, "you:x:1001:1001::/home/you:/bin/sh\n", false },
    { "one, out of range", DEFS, LOCAL, "me:x:70000:1000::/home/me:/bin/sh\n", false },
    { "a wider range has two", "UID_MIN 500\nUID_MAX 60000\n", LOCAL,
      ME "old:x:501:501::/home/old:/bin/sh\n", false },
    { "sss", DEFS, "passwd: files sss\n", ME, false },
    { "ldap", DEFS, "passwd:files ldap\n", ME, false },
    { "nis", DEFS, "passwd: nis files\n", ME, false },
    { "winbind", DEFS, "passwd: files winbind systemd\n", ME, false },
    { "an action", DEFS, "passwd: files [NOTFOUND=return]\n", ME, false },
    { "a second line", DEFS, "passwd: files\npasswd: files ldap\n", ME, false },
    { "sources unknown", DEFS, "group: files\n", ME, false },
    { "no sources", DEFS, "passwd:\n", ME, false },
    { "an inclusion of NIS", DEFS, "passwd: compat\n", ME "+::::::\n", false },
    { "an exclusion of NIS", DEFS, "passwd: compat\n", "-you\n" ME, false },
    { "a line of another form", DEFS, LOCAL, ME "broken\n", false },
    { "a field more", DEFS, LOCAL, "me:x:1000:1000::/home/me:/bin/sh:x\n", false },
    { "an id that is no number", DEFS, LOCAL, ME "you:x:1001x:1001::/home/you:/bin/sh\n", false },
    { "a limit that is no number", "UID_MIN 0x3e8\n", LOCAL, ME, false },
    { "a limit without a number", "UID_MAX\n", LOCAL, ME, false },
    { "nothing", "", "", "", false },
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct account_files files = { cases[i].login_defs, cases[i].nsswitch,
                                             cases[i].passwd };

        if (sole_user_is(&files, 1000) != cases[i].is_sole)
            fail_msg("%s", cases[i].what);
        assert_false(sole_user_is(&files, 0));
    }
}

static void test_long_lines(void **state)
{
    char passwd[8192] = "you:x:1001:1001:";
    const struct account_files files = { DEFS, LOCAL, passwd };

    (void)state;
    memset(passwd + strlen(passwd), 'a', 4000);
    snprintf(passwd + strlen(passwd), 100, ":/home/you:/usr/sbin/nologin\n%s", ME);
    assert_false(sole_user_is(&files, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_long_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

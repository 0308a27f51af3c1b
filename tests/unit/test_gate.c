/*
 * test_gate.c - which calls a rule speaks of: commands as people and agents write them, paths as
 * written and as they come to, words, tools; and what is let through.
 * Proves: R11.3
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/gate.h"

static const struct {
    const char *pattern, *command;
    bool is_match;
} commands[] = {
    { "rm -rf", "rm -rf /tmp/x", true },
    { "rm -rf", "rm -fr x", true },
    { "rm -rf", "rm -r -f x", true },
    { "rm -rf", "rm x -Rf", true },
    { "rm -rf", "rm -rvf x", true },
    { "rm -rf", "rm -r x", false },
    { "rm -rf", "rm --rf x", false },
    { "rm -rf", "rmdir -rf x", false },
    { "rm -rf", "rm -r x; ls -f", false },
    { "rm -rf", "rm -r x && ls -f", false },
    { "rm -rf", "rm -r x\nls -f", false },
    { "rm -rf", "rm -r \\\n -f x", true },
    { "rm -rf", "cd x && sudo /bin/rm -rf .", true },
    { "rm -rf", "ls | xargs rm -rf", true },
    { "rm -rf", "echo $(rm -rf x)", true },
    { "rm -rf", "x=`rm -rf x`", true },
    { "rm -rf", "bash -c 'cd x; rm -rf y'", true },
    { "rm -rf", "bash -c \"rm -rf y\"", true },
    { "rm -rf", "r\"m\" -r''f x", true },
    { "rm -rf", "\\rm -rf x", true },
    { "rm -rf", "bash -c\"rm -rf y\"", true },
    { "rm -rf", "echo 'rm' \"-f\"", false },
    { "rm -rf", "rm -rf \\", true },
    { "rm -rf", "rm${IFS}-rf${IFS}x", true },
    { "rm -rf", "rm$IFS-rf x", true },
    { "rm -rf", "RM -RF X", true },
    { "rm -rf", "find . -exec rm -rf {} \\;", true },
    { "rm -rf", "", false },
    { "rm -rf", "rm", false },
    { "rm -rf", "-rf rm", false },
    { "rm -rf", "rm 'unfinished -rf", true },
    { "rm --recursive", "rm --force --recursive x", true },
    { "rm --recursive", "rm --recursively x", false },
    { "rm --recursive", "rm --recursive=yes x", true },
    { "git push --force*", "git push --force-with-lease origin main", true },
    { "git push --force*", "git -C there push origin --force", true },
    { "git push --force*", "git push origin main", false },
    { "git push --force*", "git commit --force; git push", false },
    { "git push +*", "git push origin +main", true },
    { "git push +*", "git push origin main", false },
    { "git push -f", "git push -f", true },
    { "git push", "push git", false },
    { "mkfs*", "/sbin/mkfs.ext4 /dev/sda1", true },
    { "dd of=*", "dd if=a of=/dev/sda", true },
    { "drop table", "psql -c \"DROP   TABLE users\"", true },
    { "drop table", "psql <<E\nselect 1;\nE", false },
    { "drop table", "droptable", false },
    { "drop table", "'drop\ntable x'", true },
    { "rm --recursive", "rm --rec x", true },
    { "rm --recursive", "rm --r x", true },
    { "rm --recursive", "rm -- x", false },
    { "rm --recursive", "rm --force x", false },
    { "git push --force*", "git push --for", true },
    { "git push --force*", "git push --follow-tags", false },
    { "git push --force*", "git push -forced", true },
    { "find --delete", "find . -delete", true },
    { "find --delete", "find . -d", false },
    { "find --delete", "find . -type d -ls", false },
    { "x --destroy", "x -destroy=true", true },
    { "git checkout --", "git checkout -- x", true },
    { "git checkout --", "git checkout -b x", false },
    { "git branch -D", "git branch -D x", true },
    { "git branch -D", "git branch -d x", false },
    { "git branch -d", "git branch -D x", true },
    { "git branch -df", "git branch -f -d x", true },
    { "^git restore", "git restore x", true },
    { "^git restore", "git -C there restore x", true },
    { "^git restore", "sudo -n git restore x", true },
    { "^git restore", "cd x && A=1 git restore x", true },
    { "^git restore", "bash -c 'cd x; git restore y'", true },
    { "^git restore", "git commit -m 'restore'", false },
    { "^git restore", "echo git restore", false },
    { "^unlink", "timeout 5 /bin/unlink x", true },
    { "^unlink", "sudo -u root unlink x", true },
    { "^unlink", "timeout -s KILL 5 unlink x", true },
    { "^unlink", "env -u A B=1 unlink x", true },
    { "^unlink", "for f in a b; do unlink $f; done", true },
    { "^unlink", "if true; then unlink x; else unlink y; fi", true },
    { "^unlink", "while ! unlink x; do sleep 1; done", true },
    { "^unlink", "sudo -u root man unlink", false },
    { "^git restore", "git branch | while read b; do git -C there restore $b; done", true },
    { "^unlink", "man unlink", false },
    { "git restore !--staged", "git restore x", true },
    { "git restore !--staged", "git restore --staged x", false },
    { "git restore !--staged", "git restore --stage x", false },
    { "git restore !--staged !-S", "git restore -S x", false },
    { "git restore !--staged !-S", "git restore -s HEAD x", true },
    { "delete from !where", "delete from t", true },
    { "delete from !where", "delete from t where x", false },
    { "delete from !where", "delete from t; select 1 where x", true },
    { "rm -r", "{rm,-r,x}", true },
    { "rm -r", "$'rm' -r x", true },
    { "rm -r", "echo \"$(rm -r x)\"", true },
    { "rm -r", "grep 'rm -r' x", false },
    { "rm -r", "grep x | rm -r y", true },
    { "rm -r", "grep \"$(rm -r x)\" y", true },
    { "rm -r", "grepper rm -r", true },
    { "rm -rf", "rm ${DIR} -rf", true },
    { "rm -rf", "rm {a,b} -rf", true },
    { "rm -rf", "rm $(ls) -rf", true },
    { "rm -rf", "rm `ls` -rf", true },
    { "rm -rf", "(rm -r x); (ls -f)", false },
    { "git push --force*", "git push origin $(git branch --show-current) --force", true },
    { "git push --force*", "git push origin \"$(git branch --show-current)\" --force", true },
    { "git push --force*", "git push origin ${BRANCH} --force", true },
    { "git push --force*", "git push origin ${BRANCH}; git add --force x", false },
    { "rm -rf", "sh -c \"sh -c 'rm -rf x'\"", true },
    { "rm -rf", "sh -c \"sh -c \\\"rm -rf x\\\"\"", true },
    { "rm -rf", "ssh h 'sudo sh -c \"rm -rf /srv/x\"'", true },
    { "drop table", "docker exec db sh -c 'psql -c \"DROP TABLE users\"'", true },
    { "rm -rf", "python3 -c \"import os; os.system('rm -rf x')\"", true },
    { "^git stash drop", "git -C ${DIR} stash drop", true },
    { "^git stash drop", "git -C $(git rev-parse --show-toplevel) stash drop", true },
    { "^git stash drop", "git -C `pwd` stash drop", true },
    { "^git stash drop", "git -C \"a b\" stash drop", true },
    { "^git stash drop", "git commit -m \"$(cat x) stash drop\"", false },
    { "^git stash drop", "git log ${REV} stash drop", false },
    { "^unlink", "git commit -m \"don't unlink it\"", false },
    { "rm -rf", "for f in $(grep -l 'rm -rf' *); do echo $f; done", false },
    { "^unlink", "ssh host unlink x", true },
    { "^unlink", "ssh -p 22 host 'sudo unlink x'", true },
    { "^unlink", "su me -c \"unlink x\"", true },
    { "^unlink", "docker exec c unlink x", true },
    { "^unlink", "kubectl -n a exec p -- unlink x", true },
    { "^unlink", "setsid unlink x", true },
    { "^unlink", "stdbuf -oL unlink x", true },
    { "^unlink", "flock f unlink x", true },
    { "^unlink", "script -qc 'unlink x' /dev/null", true },
    { "^unlink", "docker ps; man unlink", false },
    { "^unlink", "2>/dev/null unlink x", true },
    { "^unlink", ">/dev/null unlink x", true },
    { "^unlink", "&>log unlink x", true },
    { "^unlink", "echo > log unlink x", false },
    { "^unlink", "man unlink 2>/dev/null", false },
    { "xargs rm", "ls | xargs /bin/rm", true },
    { "find rm", "find . -exec /bin/rm {} \\;", true },
    { "find rm", "find /usr/share/rm/x", false },
    { "cp /dev/null", "cp /dev/null x", true },
    { "git restore !--staged", "git restore x # --staged", true },
    { "git restore !--staged", "sh -c 'git restore x # --staged'", true },
    { "git restore !--staged", "git restore -- --staged", true },
    { "git restore !--staged", "git restore --staged x # one#two", false },
    { "delete from !where", "psql -c 'delete from t -- where'", true },
    { "^unlink", "# unlink x", false },
    { "^unlink", "cargo test -- unlink", false },
    { "git checkout --", "sh -c \"sh -c 'git checkout -- x'\"", true },
    { "rm \\*", "rm -f *", true },
    { "rm \\*", "rm *.o", false },
    { "rm */\\*", "rm ~/*", true },
    { "rm */\\*", "rm a/b", false },
    { "> /dev/sd*", "echo x >/dev/sda", true },
    { "> /dev/sd*", "cat /dev/sda > x", false },
    { "^delete !*", "DELETE", true },
    { "^delete !*", "delete it", false },
    { "-r", "x -r", true },
    { "", "x", false },
};

static bool matches_command(const char *pattern, const char *command)
{
    struct gate_reading reading;
    bool is_found;

    gate_read(command, &reading);
    is_found = gate_reading_matches(pattern, &reading);
    gate_reading_release(&reading);
    return is_found;
}

static void test_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        if (matches_command(commands[i].pattern, commands[i].command) != commands[i].is_match)
            fail_msg("'%s' and '%s'", commands[i].pattern, commands[i].command);
    }
}

static const struct {
    const char *pattern, *path;
    bool is_match;
} paths[] = {
    { "/etc/", "/etc/passwd", true },
    { "/etc/", "/etc/ssh/config", true },
    { "/etc/", "/home/etc/x", false },
    { "/etc/", "../../etc/passwd", true },
    { "/etc/", "/tmp/../etc/./passwd", true },
    { "/etc/", "/tmp//..//etc//passwd", true },
    { "/etc/", "../../../../../etc/passwd", true },
    { "/etc/", "etc/passwd", false },
    { "/ETC/", "/etc/passwd", false },
    { "~/.ssh/", "~/.ssh/id", true },
    { "~/.ssh/", "/home/ada/.ssh/id", true },
    { "~/.ssh/", "../.ssh/id", true },
    { "~/.ssh/", "/home/bob/.ssh/id", false },
    { "~/.ssh/", "~", false },
    { "~/.ssh/", "~/.ssh", true },
    { "~/.ssh/", "~/.ssh/", true },
    { "~/.ssh/", "/home/ada/.ssh/.", true },
    { "~/.ssh/", "~/.sshd", false },
    { "~/.ssh/", "$HOME/.ssh", true },
    { "~/.ssh/", "${HOME}/.ssh/id", true },
    { "~/.ssh/", "$HOMES/.ssh/id", false },
    { "~/.ssh/", "~ada/.ssh", true },
    { "~/.ssh/", "~adam/.ssh", false },
    { "~/.ssh/", "~bob/.ssh", false },
    { ".git/hooks/", ".git/hooks", true },
    { ".git/hooks/", ".git/hooksx", false },
    { ".git/hooks/", ".git/hooks/pre-push", true },
    { ".git/hooks/", "/srv/x/.git/hooks/pre-push", true },
    { ".git/hooks/", "x.git/hooks/pre-push", false },
    { "*.env", "/srv/x/.env", true },
    { "*.env", "production.env", true },
    { "*.env", "x.environment", false },
    { "/", "/anything", true },
    { "/etc/", "", false },
    { "/etc/", "..", false },
};

static void test_paths(void **state)
{
    const struct gate_call call = { .directory = "/home/ada", .home = "/home/ada" };
    const struct gate_call deep = { .directory = "/home/ada/src", .home = "/home/ada" };
    const struct gate_call nowhere = { .directory = NULL, .home = NULL };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const struct gate_call *from = strcmp(paths[i].path, "../.ssh/id") == 0 ? &deep : &call;

        if (gate_matches_path(paths[i].pattern, paths[i].path, from, GATE_ITSELF) !=
            paths[i].is_match)
            fail_msg("'%s' and '%s'", paths[i].pattern, paths[i].path);
    }
    assert_true(gate_matches_path("/etc/", "/etc/x", &nowhere, GATE_ITSELF));
    assert_true(gate_matches_path("~/.ssh/", "~/.ssh/x", &nowhere, GATE_ITSELF));
    assert_false(gate_matches_path("~/.ssh/", "/root/.ssh/x", &nowhere, GATE_ITSELF));
}

static const struct gate_rules rules = {
    .commands = "rm -rf; ;git push --force*;^delete from !where",
    .words = "production;prod;\xe7\x94\x9f\xe4\xba\xa7",
    .paths = "/etc/;.git/hooks/",
    .tools = "*delete*; mcp__db__query ",
};

/* JSON with ' for ". */
static const struct {
    const char *tool, *input;
    enum gate_kind kind;
    const char *pattern;
} calls[] = {
    { "Bash", "{'command':'ls -la'}", GATE_NONE, "" },
    { "Bash", "{'command':'rm -rf x','description':'Clean'}", GATE_COMMAND, "rm -rf" },
    { "Bash", "{'command':'ls','description':'rm -rf is not run'}", GATE_NONE, "" },
    { "Bash", "{'command':['rm','-rf','x']}", GATE_COMMAND, "rm -rf" },
    { "shell", "{'command':['bash','-lc','rm -rf x']}", GATE_COMMAND, "rm -rf" },
    { "Bash", "{'command':'deploy --to prod'}", GATE_WORD, "prod" },
    { "Bash", "{'command':'deploy --to PROD-eu'}", GATE_WORD, "prod" },
    { "Bash", "{'command':'deploy product'}", GATE_NONE, "" },
    { "Bash", "{'command':'deploy \xe5\x88\xb0\xe7\x94\x9f\xe4\xba\xa7\xe7\x8e\xaf'}", GATE_WORD,
      "\xe7\x94\x9f\xe4\xba\xa7" },
    { "Bash", "{'command':'echo x > /etc/hosts'}", GATE_PATH, "/etc/" },
    { "Bash", "{'command':'dd of=/etc/x'}", GATE_PATH, "/etc/" },
    { "Bash", "{'command':'mv .git/hooks x'}", GATE_PATH, ".git/hooks/" },
    { "Bash", "{'command':'ls .git/hooks'}", GATE_NONE, "" },
    { "Bash", "{'command':'ls .git/hooks/x'}", GATE_PATH, ".git/hooks/" },
    { "Bash", "{'command':'ls; mv .git/hooks x'}", GATE_PATH, ".git/hooks/" },
    { "Bash", "{'command':'x=$(ls .git/hooks)'}", GATE_NONE, "" },
    { "Bash", "{'command':'ls $(mv .git/hooks x)'}", GATE_PATH, ".git/hooks/" },
    { "Write", "{'file_path':'.git/hooks'}", GATE_PATH, ".git/hooks/" },
    { "Bash", "{'command':'cd a;cat b\\ncp c .git/hooks/d'}", GATE_PATH, ".git/hooks/" },
    { "Write", "{'file_path':'/etc/hosts','content':'x'}", GATE_PATH, "/etc/" },
    { "Write", "{'file_path':'/tmp/x','content':'rm -rf / in production'}", GATE_NONE, "" },
    { "Edit", "{'file_path':'/tmp/../etc/x','old_string':'a','new_string':'b'}", GATE_PATH,
      "/etc/" },
    { "MultiEdit", "{'paths':['/tmp/a','/etc/b']}", GATE_PATH, "/etc/" },
    { "Read", "{'file_path':'/etc/hosts'}", GATE_NONE, "" },
    { "Grep", "{'pattern':'rm -rf','path':'/etc/'}", GATE_NONE, "" },
    { "mcp__github__delete_repo", "{}", GATE_TOOL, "*delete*" },
    { "DELETE", "{}", GATE_TOOL, "*delete*" },
    { "mcp__db__query", "{'sql':'select 1'}", GATE_TOOL, "mcp__db__query" },
    { "mcp__db__run", "{'steps':[{'sql':'git push --force'}]}", GATE_COMMAND, "git push --force*" },
    { "mcp__x__y", "{'a':{'b':[1,true,null,['rm -rf z']]}}", GATE_COMMAND, "rm -rf" },
    { "mcp__x__y", "{'a':[1,2]}", GATE_NONE, "" },
    { "mcp__x__y", "{'sql':'delete\\nfrom t'}", GATE_COMMAND, "^delete from !where" },
    { "mcp__x__y", "{'query':'delete from t\\nwhere a'}", GATE_NONE, "" },
    { "mcp__x__y", "{'sql':'-- one\\ndelete from t\\nwhere a'}", GATE_NONE, "" },
    { "mcp__x__y", "{'sql':'-- all\\ndelete from t'}", GATE_COMMAND, "^delete from !where" },
    { "mcp__x__y", "{'sql':'select 1;\\ndelete from t;\\nselect 2 where b'}", GATE_COMMAND,
      "^delete from !where" },
    { "mcp__x__y", "{'command':'delete from t\\nwhere a'}", GATE_COMMAND, "^delete from !where" },
    { "Bash", "{'command':'ls\\u0000rm -rf x'}", GATE_COMMAND, "U+0000" },
    { "Bash", "'rm -rf x'", GATE_COMMAND, "rm -rf" },
    { "Bash", "null", GATE_NONE, "" },
    { "", "{}", GATE_NONE, "" },
};

static void test_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        char *text = mem_text(calls[i].input);
        struct gate_call call = { .tool = calls[i].tool, .directory = "/srv", .home = "/root" };
        struct json *input = NULL;
        struct gate_match match;

        for (char *at = strchr(text, '\''); at; at = strchr(at, '\''))
            *at = '"';
        assert_true(json_parse(text, strlen(text), &input, NULL));
        call.input = input;
        match = gate_find(&rules, &call);
        if (match.kind != calls[i].kind || strcmp(match.pattern, calls[i].pattern) != 0)
            fail_msg("%s %s: %d '%s'", calls[i].tool, text, match.kind, match.pattern);
        json_free(input);
        free(text);
    }
}

static void test_no_rules(void **state)
{
    const struct gate_rules none = { .commands = "", .words = " ; ", .paths = "" };
    struct json *input = NULL;
    struct gate_call call = { .tool = "Bash" };

    (void)state;
    assert_true(json_parse("{\"command\":\"rm -rf /\"}", 22, &input, NULL));
    call.input = input;
    assert_int_equal(gate_find(&none, &call).kind, GATE_NONE);
    json_free(input);
}

/* A pattern that does not fit its room is cut, never left out. */
static void test_long_patterns(void **state)
{
    struct gate_rules long_rules = { 0 };
    char list[400];
    struct json *input = NULL;
    struct gate_call call = { .tool = "Bash" };
    struct gate_match match;

    (void)state;
    memset(list, 'x', sizeof list);
    snprintf(list + 300, sizeof list - 300, ";rm -rf");
    long_rules.commands = list;
    assert_true(json_parse("{\"command\":\"rm -rf /\"}", 22, &input, NULL));
    call.input = input;
    match = gate_find(&long_rules, &call);
    assert_int_equal(match.kind, GATE_COMMAND);
    assert_string_equal(match.pattern, "rm -rf");
    json_free(input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands),      cmocka_unit_test(test_paths),
        cmocka_unit_test(test_calls),         cmocka_unit_test(test_no_rules),
        cmocka_unit_test(test_long_patterns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

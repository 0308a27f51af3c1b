/*
 * Whatever a client's hook sends: the gate judges it without harm, and what it finds does not
 * depend on how the input is spelt. A command that holds a rule's own words is always found.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "core/gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct gate_rules rules = {
    .commands = "rm -rf;git push --force*;drop table;mkfs*",
    .words = "prod;production",
    .paths = "/etc/;~/.ssh/;.git/hooks/;*.env",
    .tools = "*delete*",
};

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

static void judge(const struct json *input)
{
    const struct gate_call call = { "Bash", input, "/home/ada/x", "/home/ada" };
    struct gate_match match = gate_find(&rules, &call), again;
    char *encoded = json_encode(input);
    struct json *copy = NULL;
    struct gate_call same = call;

    require(memchr(match.pattern, '\0', sizeof match.pattern) != NULL);
    require((match.kind == GATE_NONE) == (match.pattern[0] == '\0'));
    require(json_parse(encoded, strlen(encoded), &copy, NULL));
    same.input = copy;
    again = gate_find(&rules, &same);
    require(again.kind == match.kind && strcmp(again.pattern, match.pattern) == 0);
    json_free(copy);
    free(encoded);
}

/* Whatever stands in the commands before and behind it. */
static void hide(const uint8_t *data, size_t size)
{
    char *around = mem_text_n((const char *)data, size);
    char *command = mem_format("true\nrm -rf x\n%s", around);
    struct gate_reading reading;

    gate_read(command, &reading);
    require(gate_reading_matches("rm -rf", &reading));
    gate_reading_release(&reading);
    free(command);
    free(around);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json *input = NULL;

    if (json_parse((const char *)data, size, &input, NULL))
        judge(input);
    json_free(input);
    hide(data, size);
    return 0;
}

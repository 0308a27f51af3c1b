/* completion.c - see verb.h, and `sayso completion SHELL`: the script that makes a shell
 * complete our commands. Starts no hub: ids are offered only by one that runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/hub_call.h"
#include "cli/install/clients.h"
#include "cli/say.h"
#include "core/visible_text.h"
#include "settings/settings.h"

enum { MAX_WORDS = 8, TOKEN_BYTES = 64 };

const char complete_command[] = "__complete";
static const char shells[] = "bash|zsh|fish";

struct completion {
    const struct verb *verb;
    const char *words[MAX_WORDS]; /* positional ones before the one being typed */
    size_t word_count;
    const char *typed;
};

static void offer(const struct completion *completion, const char *word, const char *about)
{
    struct text shown = { 0 };

    if (strncmp(word, completion->typed, strlen(completion->typed)) != 0)
        return;
    visible_text(about, strlen(about), VISIBLE_ONE_LINE, &shown);
    printf("%s\t%s\n", word, text_string(&shown));
    text_release(&shown);
}

static void offer_each(const struct completion *completion, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, "|");
        char *word = mem_text_n(words, length);

        offer(completion, word, "");
        free(word);
        words += length + (words[length] == '|');
    }
}

static void offer_verbs(const struct completion *completion)
{
    for (size_t i = 0; verb_at(i); i++)
        offer(completion, verb_at(i)->name, i18n_text(verb_at(i)->about));
}

static void offer_asks(const struct completion *completion)
{
    struct rpc_message reply = { 0 };
    struct client *link = NULL;
    struct error err;

    if (completion->verb == &verb_token)
        return; /* its ids are of tokens */
    if (call_look(&link, &err) &&
        client_call_and_wait(link, "ask/list", "{\"filter\":\"active\"}", &reply, &err)) {
        const struct json *asks = json_member(reply.result, "asks");

        for (size_t i = 0; i < json_length(asks); i++) {
            const struct json *ask = json_item(asks, i);
            char beginning[9];

            snprintf(beginning, sizeof beginning, "%.8s", say_member(ask, "session_id"));
            offer(completion, beginning, say_member(ask, "title"));
        }
    }
    rpc_release(&reply);
    client_free(link);
}

static void offer_names(const struct completion *completion)
{
    for (enum setting_id id = 0; id < SETTING_COUNT && completion->verb == &verb_settings; id++)
        offer(completion, setting_row(id)->name, i18n_text(setting_row(id)->label));
}

static void offer_values(const struct completion *completion)
{
    const struct setting_row *row;
    enum setting_id id;

    if (completion->word_count < 2 || !setting_find(completion->words[1], &id))
        return;
    row = setting_row(id);
    if (row->type == SETTING_TYPE_BOOL)
        offer_each(completion, "on|off");
    else if (row->choices)
        offer_each(completion, row->choices);
    else if (*row->built_in)
        offer(completion, row->built_in, i18n_text(TEXT_SOURCE_BUILT_IN));
}

static void offer_clients(const struct completion *completion)
{
    for (size_t i = 0; i < client_count(); i++)
        offer(completion, client_at(i)->name, client_at(i)->title);
}

static void offer_shells(const struct completion *completion)
{
    offer_each(completion, shells);
}

static void offer_files(const struct completion *completion)
{
    (void)completion;
    puts(":files");
}

/* What stands for a word in the usage lines and in an option's value. */
static const struct {
    const char *place;
    void (*offer)(const struct completion *completion);
} places[] = {
    { "ID", offer_asks },        { "NAME", offer_names },   { "VALUE", offer_values },
    { "CLIENT", offer_clients }, { "SHELL", offer_shells }, { "COMMAND", offer_verbs },
    { "FILE", offer_files },
};

static void offer_place(const struct completion *completion, const char *place)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (strcmp(places[i].place, place) == 0) {
            places[i].offer(completion);
            return;
        }
    }
    if (strchr(place, '|'))
        offer_each(completion, place);
}

/* The next word of a usage line that is not about an option; its brackets are dropped. */
static bool next_place(const char **at, char place[TOKEN_BYTES])
{
    while (**at) {
        const char *from = *at + strspn(*at, " ");
        size_t length = strcspn(from, " ");

        *at = from + length;
        if (*from == '-' || strncmp(from, "[-", 2) == 0 || *from == '<')
            return false; /* options and their values end the words */
        if (strncmp(from, "[OPTIONS]", strlen("[OPTIONS]")) == 0 || length == 0 ||
            length >= TOKEN_BYTES)
            continue;
        if (*from == '[' && from[length - 1] == ']') {
            from++;
            length -= 2;
        }
        snprintf(place, TOKEN_BYTES, "%.*s", (int)length, from);
        return true;
    }
    return false;
}

static bool is_literal(const char *place)
{
    return *place >= 'a' && *place <= 'z';
}

/* Follows the usage line by the words that are there; what it has next is offered. */
static void offer_next(const struct completion *completion, const char *usage)
{
    char place[TOKEN_BYTES];

    next_place(&usage, place); /* the verb */
    for (size_t i = 0; i < completion->word_count; i++) {
        if (!next_place(&usage, place) ||
            (is_literal(place) && strcmp(place, completion->words[i]) != 0))
            return;
    }
    while (strncmp(usage + strspn(usage, " "), "[--", 3) == 0 && strchr(usage, ']'))
        usage = strchr(usage, ']') + 1; /* attach [--plain] [ID] */
    if (!next_place(&usage, place))
        return;
    if (is_literal(place))
        offer(completion, place, "");
    else
        offer_place(completion, place);
}

static void offer_words(const struct completion *completion)
{
    for (const char *const *line = completion->verb->usage; *line; line++) {
        bool is_repeated = false;
        const char *end = *line + strcspn(*line, "-<");

        for (const char *const *other = completion->verb->usage; other < line; other++)
            is_repeated = is_repeated || (strncmp(*other, *line, (size_t)(end - *line)) == 0 &&
                                          strcspn(*other, "-<") == (size_t)(end - *line));
        if (!is_repeated)
            offer_next(completion, *line);
    }
}

static void offer_options(const struct completion *completion)
{
    for (size_t i = 0;; i++) {
        const struct verb_option *option = verb_option_at(completion->verb, i);
        char name[TOKEN_BYTES];

        if (!option)
            return;
        snprintf(name, sizeof name, "--%s", option->name);
        if (!option->is_hidden)
            offer(completion, name, i18n_text(option->help));
    }
}

/* The option of this word, if it still wants its value; NULL: none. */
static const struct verb_option *wants_value(const struct verb *verb, const char *word)
{
    const struct verb_option *option;

    for (size_t i = 0; *word == '-' && (option = verb_option_at(verb, i)); i++) {
        bool is_it = word[1] == '-' ? strcmp(option->name, word + 2) == 0
                                    : option->letter && word[1] == option->letter && !word[2];

        if (is_it)
            return option->value ? option : NULL;
    }
    return NULL;
}

static void complete_verb(struct completion *completion, int count, char **words)
{
    const struct verb_option *waiting = NULL;

    for (int i = 0; i < count; i++) {
        if (waiting)
            waiting = NULL;
        else if (words[i][0] == '-')
            waiting = wants_value(completion->verb, words[i]);
        else if (completion->word_count < MAX_WORDS)
            completion->words[completion->word_count++] = words[i];
    }
    if (waiting)
        offer_place(completion, waiting->value);
    else if (completion->typed[0] == '-')
        offer_options(completion);
    else
        offer_words(completion);
}

void complete_print(int count, char **words)
{
    struct completion completion = { .verb = count > 1 ? verb_find(words[0]) : NULL,
                                     .typed = count > 0 ? words[count - 1] : "" };

    if (count <= 1)
        offer_verbs(&completion);
    else if (completion.verb)
        complete_verb(&completion, count - 2, words + 1);
}

static const char bash_script[] =
    "# bash completion for sayso; made by: sayso completion bash\n"
    "_sayso() {\n"
    "    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} line rest\n"
    "    program=${program/#\\~/$HOME}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r line rest; do\n"
    "        if [ \"$line\" = :files ]; then\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "        else\n"
    "            COMPREPLY+=(\"$line\")\n"
    "        fi\n"
    "    done < <(\"$program\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _sayso sayso\n";

static const char zsh_script[] =
    "#compdef sayso\n"
    "# zsh completion for sayso; made by: sayso completion zsh\n"
    "_sayso() {\n"
    "    local -a lines candidates\n"
    "    local line\n"
    "    lines=(\"${(@f)$(\"${words[1]/#\\~/$HOME}\" __complete \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)}\")\n"
    "    for line in $lines; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            _files\n"
    "            return\n"
    "        fi\n"
    "        candidates+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done\n"
    "    _describe -t sayso sayso candidates\n"
    "}\n"
    "if [[ ${funcstack[1]} == _sayso ]]; then\n"
    "    _sayso \"$@\"\n"
    "else\n"
    "    compdef _sayso sayso\n"
    "fi\n";

static const char fish_script[] =
    "# fish completion for sayso; made by: sayso completion fish\n"
    "function __sayso_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = :files\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c sayso -f -a '(__sayso_complete)'\n";

static enum exit_code run_completion(const struct arguments *arguments)
{
    static const struct {
        const char *shell, *script;
    } rows[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };
    const char *shell = arguments->word_count ? arguments->words[0] : "";

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (strcmp(rows[i].shell, shell) == 0) {
            fputs(rows[i].script, stdout);
            return EXIT_DONE;
        }
    }
    return say_needs(arguments, shells);
}

static const char *const usage[] = { "completion SHELL", NULL };
static const char *const examples[] = {
    "completion bash > ~/.local/share/bash-completion/completions/sayso",
    "completion zsh > ~/.zfunc/_sayso", "completion fish > ~/.config/fish/completions/sayso.fish",
    NULL
};
VERB_ROW(completion, TEXT_CLI_COMPLETION, VERB_TEXTS, .max_words = 1,
         .runs_without_settings = true);

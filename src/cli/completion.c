/* completion.c - `sayso completion SHELL`: the script that makes a shell complete our commands. */
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/say.h"

const char completion_shells[] = "bash|zsh|fish";

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
    return say_needs(arguments, completion_shells);
}

static const char *const usage[] = { "completion SHELL", NULL };
static const char *const examples[] = {
    "completion bash > ~/.local/share/bash-completion/completions/sayso",
    "completion zsh > ~/.zfunc/_sayso", "completion fish > ~/.config/fish/completions/sayso.fish",
    NULL
};
VERB_ROW(completion, TEXT_CLI_COMPLETION, VERB_TEXTS, .most_words = 1,
         .runs_without_settings = true);

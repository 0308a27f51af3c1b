/* man.c - `sayso man [COMMAND]`: a manual page as roff, from the tables that help is made of. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/say.h"
#include "core/glyph.h"
#include "settings/settings.h"

/* One glyph as roff reads it: nothing in it is an escape, or a dash that is not one. */
static void print_glyph(const char *glyph, size_t length)
{
    static const struct {
        char sign;
        const char *name;
    } named[] = {
        { '\\', "\\e" },  { '-', "\\-" },   { '\'', "\\(aq" },
        { '~', "\\(ti" }, { '^', "\\(ha" }, { '`', "\\(ga" },
    };

    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (*glyph == named[i].sign) {
            fputs(named[i].name, stdout);
            return;
        }
    }
    fwrite(glyph, 1, length, stdout);
}

/* Nothing in it is a request. `is_broken`: lines may end where Chinese ones may, which roff does
 * not know by itself; not for titles and the line of NAME, which other programs read. */
static void print_glyphs(const char *text, bool is_broken)
{
    size_t length = strlen(text), before = 0, at = 0;

    if (*text == '.' || *text == '\'')
        fputs("\\&", stdout);
    while (at < length) {
        struct glyph glyph = glyph_first(text + at, length - at);

        if (is_broken && at > 0 && glyph_may_break(text, before, at, glyph))
            fputs("\\:", stdout);
        print_glyph(text + at, glyph.bytes);
        before = at;
        at += glyph.bytes;
    }
}

/* A text of ours or of a table between roff's own words. */
static void print_text(const char *before, const char *text, const char *behind)
{
    fputs(before, stdout);
    print_glyphs(text, false);
    fputs(behind, stdout);
}

static void print_line(const char *before, const char *text)
{
    print_text(before, text, "\n");
}

static void print_prose(const char *text)
{
    print_glyphs(text, true);
    putchar('\n');
}

static void print_section(enum text_id title)
{
    print_line(".SH ", i18n_text(title));
}

static void print_head(const char *page, const char *about)
{
    printf(".TH %s 1 \"\" \"sayso %s\" \"", page, SAYSO_VERSION);
    print_text("", i18n_text(TEXT_MAN_MANUAL), "\"\n");
    puts(".nh\n.ad l"); /* names of options are not to be parted, nor are gaps to fill lines */
    print_section(TEXT_MAN_NAME);
    print_text("", page, " \\- ");
    print_line("", about);
}

/* Each in a paragraph of its own, as it is typed. */
static void print_commands(enum text_id title, const char *const *lines)
{
    print_section(title);
    puts(".nf");
    for (; *lines; lines++)
        print_line("sayso ", *lines);
    puts(".fi");
}

static void print_options(const struct verb *verb)
{
    const struct verb_option *option;

    print_section(TEXT_MAN_OPTIONS);
    for (size_t i = 0; (option = verb_option_at(verb, i)); i++) {
        if (option->is_hidden)
            continue;
        fputs(".TP\n\\fB", stdout);
        if (option->letter)
            printf("\\-%c\\fR, \\fB", option->letter);
        print_text("\\-\\-", option->name, "\\fR");
        if (option->value)
            print_text(" \\fI", option->value, "\\fR");
        putchar('\n');
        print_prose(i18n_text(option->help));
    }
}

static void print_settings(void)
{
    print_section(TEXT_MAN_SETTINGS);
    for (enum setting_id id = 0; id < SETTING_COUNT; id++) {
        const struct setting_row *row = setting_row(id);
        struct text takes = { 0 };

        if (setting_heading(id))
            print_line(".SS ", setting_heading(id));
        setting_add_values(id, &takes);
        print_line(".TP\n.B ", row->name);
        print_prose(i18n_text(row->help));
        puts(".br");
        text_add_format(&takes, ", %s%s%s", row->environment, row->flag ? ", " : "",
                        row->flag ? row->flag : "");
        print_prose(text_string(&takes));
        text_release(&takes);
    }
}

static void print_end(const struct verb *shown)
{
    print_section(TEXT_MAN_EXIT_STATUS);
    print_prose(i18n_text(TEXT_CLI_EXIT_CODES));
    print_section(TEXT_MAN_FILES);
    print_line(".TP\n.I ", "$XDG_DATA_HOME/sayso/");
    print_prose(i18n_text(TEXT_MAN_DATA));
    print_line(".TP\n.I ", "$XDG_CONFIG_HOME/sayso/settings.json");
    print_prose(i18n_text(TEXT_MAN_HOST_SETTINGS));
    print_section(TEXT_MAN_SEE_ALSO);
    if (shown)
        puts(".BR sayso (1)");
    for (size_t i = 0; !shown && verb_at(i); i++)
        printf(".BR sayso\\-%s (1)%s\n", verb_at(i)->name, verb_at(i + 1) ? "," : "");
}

static void print_verb_page(const struct verb *verb)
{
    char page[64];

    snprintf(page, sizeof page, "sayso-%s", verb->name);
    print_head(page, i18n_text(verb->about));
    print_commands(TEXT_MAN_SYNOPSIS, verb->usage);
    print_options(verb);
    if (verb == &verb_settings)
        print_settings();
    print_commands(TEXT_MAN_EXAMPLES, verb->examples);
    print_end(verb);
}

static void print_program_page(void)
{
    static const char *const synopsis[] = { "COMMAND [...]", NULL };

    print_head("sayso", i18n_text(TEXT_CLI_ABOUT));
    print_commands(TEXT_MAN_SYNOPSIS, synopsis);
    print_section(TEXT_MAN_COMMANDS);
    for (size_t i = 0; verb_at(i); i++) {
        if (verb_heading(i))
            print_line(".SS ", verb_heading(i));
        printf(".TP\n.BR sayso\\-%s (1)\n", verb_at(i)->name);
        print_prose(i18n_text(verb_at(i)->about));
    }
    print_end(NULL);
}

static enum exit_code run_man(const struct arguments *arguments)
{
    const char *name = arguments->word_count ? arguments->words[0] : NULL;
    const struct verb *verb = name ? verb_find(name) : NULL;

    if (!name) {
        print_program_page();
    } else if (verb) {
        print_verb_page(verb);
    } else {
        say_problem(TEXT_CLI_UNKNOWN_COMMAND, "name", name);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static const char *const usage[] = { "man [COMMAND]", NULL };
static const char *const examples[] = { "man ask | man -l -", "man > sayso.1", NULL };
VERB_ROW(man, TEXT_CLI_MAN, VERB_TEXTS, .max_words = 1, .runs_without_settings = true);

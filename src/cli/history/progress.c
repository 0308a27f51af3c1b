/* progress.c - see progress.h. Drawn a few times a second, so that it costs nothing. */
#include "cli/history/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/say.h"

enum { BAR_CELLS = 30, DRAW_EVERY_MS = 100, SAY_EVERY_MS = 5000, PERMILLE = 1000 };

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct progress progress_begin(enum text_id what)
{
    const char *terminal = getenv("TERM");
    bool is_on = isatty(STDERR_FILENO) && (!terminal || strcmp(terminal, "dumb") != 0);

    return (struct progress){ .what = what, .is_on = is_on, .shown = -1 };
}

struct progress progress_begin_counted(enum text_id what, bool is_quiet)
{
    struct progress progress = progress_begin(what);

    progress.is_counted = true;
    progress.is_plain = !progress.is_on && !is_quiet;
    progress.began_ms = now_ms();
    progress.drawn_ms = progress.began_ms;
    progress.first = -1;
    return progress;
}

static void say_line(struct progress *progress, int permille, int64_t done, int64_t all)
{
    int64_t now = now_ms();

    if (now - progress->drawn_ms < SAY_EVERY_MS && (done < all || progress->shown == PERMILLE))
        return;
    progress->drawn_ms = now;
    progress->shown = permille;
    say_note(TEXT_PROGRESS_LINE, "what", i18n_text(progress->what), "percent",
             TEXT_NUMBER(permille / 10), "done", TEXT_NUMBER(done), "all", TEXT_NUMBER(all));
}

/* What an earlier attempt did is not counted. */
static void draw_rate(struct progress *progress, int64_t done, int64_t now)
{
    int64_t took_ms = now - progress->began_ms;
    struct text rate = { 0 };

    if (!progress->is_counted || took_ms < DRAW_EVERY_MS)
        return;
    i18n_format(&rate, TEXT_PROGRESS_RATE, "count",
                TEXT_NUMBER((done - progress->first) * 1000 / took_ms), NULL);
    fprintf(stderr, "  %s\x1b[K", text_string(&rate));
    text_release(&rate);
}

void progress_show(struct progress *progress, int64_t done, int64_t all)
{
    int permille = all > 0 && done < all ? (int)(done * PERMILLE / all) : PERMILLE;
    int64_t now = progress->is_on ? now_ms() : 0;
    char bar[BAR_CELLS + 1];

    if (progress->is_counted && progress->first < 0)
        progress->first = done;
    if (progress->is_plain)
        say_line(progress, permille, done, all);
    if (!progress->is_on || permille == progress->shown ||
        (progress->shown >= 0 && now - progress->drawn_ms < DRAW_EVERY_MS))
        return;
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < permille * BAR_CELLS / PERMILLE ? '#' : '-';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%s [%s] %3d %%", i18n_text(progress->what), bar, permille / 10);
    draw_rate(progress, done, now);
    fflush(stderr);
    progress->shown = permille;
    progress->drawn_ms = now;
}

void progress_end(struct progress *progress)
{
    if (progress->is_on && progress->shown >= 0)
        fprintf(stderr, "\r\x1b[K");
    progress->shown = -1;
}

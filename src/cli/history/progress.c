/* progress.c - see progress.h. Drawn a few times a second, so that it costs nothing. */
#include "cli/history/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 30, DRAW_EVERY_MS = 100, PERMILLE = 1000 };

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

void progress_show(struct progress *progress, int64_t done, int64_t all)
{
    int permille = all > 0 && done < all ? (int)(done * PERMILLE / all) : PERMILLE;
    int64_t now = progress->is_on ? now_ms() : 0;
    char bar[BAR_CELLS + 1];

    if (!progress->is_on || permille == progress->shown ||
        (progress->shown >= 0 && now - progress->drawn_ms < DRAW_EVERY_MS))
        return;
    for (int i = 0; i < BAR_CELLS; i++)
        bar[i] = i < permille * BAR_CELLS / PERMILLE ? '#' : '-';
    bar[BAR_CELLS] = '\0';
    fprintf(stderr, "\r%s [%s] %3d %%", i18n_text(progress->what), bar, permille / 10);
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

/* look.c - news that wait while a reply about asks is read for the same visitor. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/inside.h"

/* So much is kept for one visitor; with more he is told, and to look again. */
enum { UNHEARD_BYTES = 262144 };

void look_begin(struct errand *errand)
{
    errand->holds_news = errand->visit != NULL;
    if (errand->visit)
        errand->visit->look_count++;
}

void look_drop(struct visit *visit)
{
    if (visit->unheard)
        text_release(visit->unheard);
    free(visit->unheard);
    visit->unheard = NULL;
}

/* Lines are JSON, which has no line ends inside. Who is told may leave, and may look again. */
static void tell_unheard(struct visit *visit)
{
    struct text *lines = visit->unheard;
    char *at = lines ? lines->bytes : NULL;

    visit->unheard = NULL;
    for (char *end; at && !visit->is_gone && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        visit->event(visit->context, at, (size_t)(end - at));
    }
    if (lines)
        text_release(lines);
    free(lines);
}

void look_end(struct visit *visit)
{
    if (--visit->look_count == 0)
        tell_unheard(visit);
}

bool look_holds(struct visit *visit, const char *line, size_t length)
{
    static const char resync[] = "{\"jsonrpc\":\"2.0\",\"method\":\"resync\",\"params\":{}}";

    if (visit->look_count == 0)
        return false;
    if (!visit->unheard)
        visit->unheard = mem_new(sizeof *visit->unheard);
    text_add(visit->unheard, line, length);
    text_add(visit->unheard, "\n", 1);
    if (visit->unheard->used <= UNHEARD_BYTES)
        return true;
    if (visit->is_watching) { /* a list that is on its way may be older than all this */
        text_add(visit->unheard, resync, strlen(resync));
        text_add(visit->unheard, "\n", 1);
    }
    tell_unheard(visit);
    return true;
}

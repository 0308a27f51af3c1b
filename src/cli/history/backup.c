/* backup.c - see backup.h. */
#include "cli/history/backup.h"

#include "base/error.h"
#include "cli/history/progress.h"
#include "hub/keep.h"

struct writing {
    FILE *stream;
    struct progress progress;
    int64_t lines;
};

static bool take_line(void *context, const char *line, size_t length, int64_t done, int64_t all)
{
    struct writing *writing = context;

    writing->lines++;
    progress_show(&writing->progress, done, all);
    return fwrite(line, 1, length, writing->stream) == length;
}

bool backup_write(FILE *stream, int64_t *ret_lines, struct error *err)
{
    struct writing writing = { stream, progress_begin(TEXT_PROGRESS_WRITING), 0 };
    bool ok = hub_backup(take_line, &writing, err);

    progress_end(&writing.progress);
    *ret_lines = writing.lines;
    return ok;
}

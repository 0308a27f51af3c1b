/* out_file.c - see out_file.h. */
#include "cli/history/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

bool out_file_open(const char *path_or_null, struct out_file *ret_file, struct error *err)
{
    struct out_file file = { .stream = stdout };
    int fd;

    *ret_file = file;
    if (!path_or_null)
        return true;
    file.path = mem_text(path_or_null);
    file.beside = mem_format("%s.%ld.new", path_or_null, (long)getpid());
    unlink(file.beside); /* left by a process that died here; ours alone, the name has our pid */
    fd = open(file.beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    file.stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file.stream) {
        *ret_file = file;
        return true;
    }
    error_set(err, ERROR_storage_failed, "", "can't write %s: %s", path_or_null, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(file.path);
    free(file.beside);
    return false;
}

bool out_file_close(struct out_file *file, bool is_good, struct error *err)
{
    bool ok = fflush(file->stream) == 0 && !ferror(file->stream);
    const char *path = file->path ? file->path : "standard output"; /* not for people */

    if (file->path) {
        ok = ok && (!is_good || fsync(fileno(file->stream)) == 0);
        ok = fclose(file->stream) == 0 && ok;
        ok = ok && (!is_good || rename(file->beside, file->path) == 0);
    }
    if (!ok)
        error_set(err, ERROR_storage_failed, "", "can't write %s: %s", path, strerror(errno));
    if (file->path && (!ok || !is_good))
        unlink(file->beside);
    free(file->path);
    free(file->beside);
    *file = (struct out_file){ 0 };
    return ok;
}

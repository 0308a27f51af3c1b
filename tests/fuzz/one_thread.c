/* one_thread.c - see one_thread.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "engine_fixture.h"

#include "one_thread.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "base/loop.h"
#include "base/table.h"
#include "disk.h"
#include "memory.h"
#include "task.h"

static struct process process = { .effects_left = -1, .wakes_at_once = true };
static struct disk *disk, *blank; /* blank: as it was prepared */

/* What an input freed need not be kept longer than for some more of them. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16:malloc_context_size=8";
}

/* Nothing is killed here: memory is the sanitizer's, and freed in good order. */
struct region *region_use(struct region *region)
{
    (void)region;
    return NULL;
}

/* Of those who wait for a server or are told to stop: none is here. */
bool loop_run_until(struct loop *loop, bool (*is_done)(void *context), void *context,
                    int64_t boot_ms)
{
    (void)loop;
    (void)is_done;
    (void)context;
    (void)boot_ms;
    abort();
}

void loop_on_signal(struct loop *loop, void (*call)(void *context, int number), void *context)
{
    (void)loop;
    (void)call;
    (void)context;
    abort();
}

static void run_now(void *context)
{
    struct stage *stage = stage_open(NULL);

    (*(one_thread_call *const *)context)(stage);
    stage_close(stage);
}

static void run(one_thread_call *call)
{
    process.seed = 1;
    times = (struct times){ STAGE_BOOT_MS, STAGE_UTC_MS };
    task_run(&process, run_now, &call);
}

/* Hash tables draw their secret when there is the first of them. */
static void draw_secret(void)
{
    struct thing {
        struct table_link link;
        char key[8];
    } thing = { 0 };
    struct table table = TABLE_OF(thing, link, key);

    table_insert(&table, &thing.link);
    table_release(&table);
}

void one_thread_run(one_thread_call *prepare, one_thread_call *call)
{
    if (!disk) {
        disk_register();
        sqlite3_vfs_register(sqlite3_vfs_find(DISK_VFS), 1);
        disk = disk_new(""); /* wherever the stage has its directory */
        disk_keep_power(disk);
        blank = disk_new("nowhere");
        draw_secret();
        run(prepare);
        disk_copy(blank, disk);
    }
    disk_copy(disk, blank);
    run(call);
}

void one_thread_advance(struct stage *stage, int64_t ms)
{
    stage_advance(stage, ms);
    times.boot_ms = stage->clock.boot_ms;
    times.utc_ms = stage->clock.utc_ms;
    if (task_thread_can_run(&process))
        task_run_thread(&process);
}

/*
 * make_directory.h - where a test keeps its store: in memory if there is room. A store syncs its
 * file with every change; what a power cut leaves is played (power_cut.c), not left to a disk.
 */
#ifndef TESTS_MAKE_DIRECTORY_H
#define TESTS_MAKE_DIRECTORY_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MEMORY_PLACE "/dev/shm"
#define MEMORY_ROOM  (UINT64_C(512) << 20) /* for all programs that run at the same time */

static inline int is_memory_roomy(void)
{
    struct statvfs room;

    return access(MEMORY_PLACE, W_OK) == 0 && statvfs(MEMORY_PLACE, &room) == 0 &&
           (uint64_t)room.f_bavail * room.f_frsize >= MEMORY_ROOM;
}

/* Returns NULL where none can be made. */
static inline char *make_directory(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s-XXXXXX", is_memory_roomy() ? MEMORY_PLACE : "/tmp", name);
    return mkdtemp(path);
}

#endif

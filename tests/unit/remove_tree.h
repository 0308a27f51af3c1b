/* remove_tree.h - what a test made in its directory goes with the directory. */
#ifndef TESTS_REMOVE_TREE_H
#define TESTS_REMOVE_TREE_H
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

static inline int remove_one(const char *path, const struct stat *found, int type,
                             struct FTW *where)
{
    (void)found;
    (void)type;
    (void)where;
    return remove(path);
}

static inline int remove_tree(const char *directory)
{
    return nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif

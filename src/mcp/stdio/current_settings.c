#include "mcp/stdio/current_settings.h"

#include <stdlib.h>

#include "base/mem.h"
#include "rpc/location.h"
#include "settings/settings.h"

/* Settings are saved by renaming a new file over the old one, and edited in place by people. */
static bool is_same_file(const struct stat *one, const struct stat *other)
{
    return one->st_ino == other->st_ino && one->st_dev == other->st_dev &&
           one->st_size == other->st_size && one->st_ctim.tv_sec == other->st_ctim.tv_sec &&
           one->st_ctim.tv_nsec == other->st_ctim.tv_nsec;
}

static void find_path(struct current_settings *current)
{
    struct location location;

    if (location_find(&location, NULL))
        current->path = mem_text(location.settings);
}

const struct settings *current_settings(struct current_settings *current)
{
    struct stat file;

    if (current->is_seen)
        return current->settings;
    if (!current->settings)
        find_path(current);
    current->is_seen = true;
    /* Without a file there is nothing to compare: it may have been out of reach, or be so now. */
    if (!current->path || stat(current->path, &file) != 0)
        file = (struct stat){ 0 };
    else if (current->settings && is_same_file(&file, &current->file))
        return current->settings;
    settings_free(current->settings);
    current->settings = settings_new();
    current->file = file;
    settings_load(current->settings, current->path);
    return current->settings;
}

void current_settings_end_turn(struct current_settings *current)
{
    current->is_seen = false;
}

void current_settings_release(struct current_settings *current)
{
    settings_free(current->settings);
    free(current->path);
    *current = (struct current_settings){ 0 };
}

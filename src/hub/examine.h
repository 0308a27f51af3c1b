/* examine.h - the store as it lies on disk, for those who look after it. Changes nothing. */
#ifndef HUB_EXAMINE_H
#define HUB_EXAMINE_H
#include <stdint.h>

enum examined {
    EXAMINED_WHOLE,
    EXAMINED_ABSENT,
    EXAMINED_DAMAGED,
    EXAMINED_NEWER,
    EXAMINED_FOREIGN,
    EXAMINED_UNREADABLE, /* message says why */
};
struct examination {
    enum examined outcome;
    int version, our_version; /* of the tables */
    int64_t tokens, agent_tokens, expired_tokens;
    char message[160];
};
void hub_examine_store(const char *path, struct examination *ret_examination);

#endif

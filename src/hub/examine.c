/* examine.c - see examine.h. */
#include "hub/examine.h"

#include <stdio.h>

#include "loop/loop.h"
#include "store/inspect.h"

void hub_examine_store(const char *path, struct examination *ret_examination)
{
    static const enum examined outcomes[] = {
        [INSPECT_WHOLE] = EXAMINED_WHOLE,     [INSPECT_ABSENT] = EXAMINED_ABSENT,
        [INSPECT_DAMAGED] = EXAMINED_DAMAGED, [INSPECT_NEWER] = EXAMINED_NEWER,
        [INSPECT_FOREIGN] = EXAMINED_FOREIGN, [INSPECT_UNREADABLE] = EXAMINED_UNREADABLE,
    };
    struct inspection found;

    store_inspect(path, loop_utc_ms(), &found);
    *ret_examination = (struct examination){
        .outcome = outcomes[found.outcome],
        .version = found.version,
        .our_version = found.our_version,
        .tokens = found.all_tokens,
        .agent_tokens = found.agent_tokens,
        .expired_tokens = found.expired_tokens,
    };
    snprintf(ret_examination->message, sizeof ret_examination->message, "%s", found.message);
}

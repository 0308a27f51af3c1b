/* store.c - the values of the store's port. */
#include "store/store.h"

struct store_change store_change_of(const char *ask_id, enum ask_event event)
{
    return (struct store_change){
        .ask_id = ask_id,
        .event = event,
        .to_state = STORE_KEEP,
        .interface = STORE_KEEP,
        .deadline_ms = STORE_KEEP,
        .original_ms = STORE_KEEP,
        .hold_used_ms = STORE_KEEP,
        .deliver_after_ms = STORE_KEEP,
        .delivered_ms = STORE_KEEP,
        .decided_ms = STORE_KEEP,
    };
}

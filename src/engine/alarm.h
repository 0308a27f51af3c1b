/*
 * alarm.h - everything that must happen at a moment: deadlines, waits that run out, undo windows.
 * A binary heap of alarms embedded in their owners; costs nothing while it is empty.
 */
#ifndef ENGINE_ALARM_H
#define ENGINE_ALARM_H
#include <stddef.h>
#include <stdint.h>

struct alarm {
    int64_t boot_ms;
    uint32_t place; /* index in the heap + 1; 0: not set */
    uint32_t kind; /* by which the owner knows what to do; there are two to an ask, so no pointer */
};
struct alarm_heap {
    struct alarm **alarms;
    size_t count, capacity;
};

void alarm_heap_release(struct alarm_heap *heap);
void alarm_set(struct alarm_heap *heap, struct alarm *alarm, int64_t boot_ms); /* or set again */
void alarm_clear(struct alarm_heap *heap, struct alarm *alarm); /* fine when not set */
int64_t alarm_next(const struct alarm_heap *heap);              /* -1: none */
/* Takes out the earliest alarm that is due at now_ms; NULL: none is. */
struct alarm *alarm_take_due(struct alarm_heap *heap, int64_t now_ms);

#endif

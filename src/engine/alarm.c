#include "engine/alarm.h"

#include <stdlib.h>

#include "base/mem.h"

void alarm_heap_release(struct alarm_heap *heap)
{
    free(heap->alarms);
    *heap = (struct alarm_heap){ 0 };
}

static void put(struct alarm_heap *heap, size_t place, struct alarm *alarm)
{
    heap->alarms[place] = alarm;
    alarm->place = (uint32_t)place + 1;
}

static void sift_up(struct alarm_heap *heap, size_t place, struct alarm *alarm)
{
    while (place > 0) {
        size_t above = (place - 1) / 2;

        if (heap->alarms[above]->boot_ms <= alarm->boot_ms)
            break;
        put(heap, place, heap->alarms[above]);
        place = above;
    }
    put(heap, place, alarm);
}

static void sift_down(struct alarm_heap *heap, size_t place, struct alarm *alarm)
{
    for (;;) {
        size_t below = 2 * place + 1;

        if (below >= heap->count)
            break;
        if (below + 1 < heap->count &&
            heap->alarms[below + 1]->boot_ms < heap->alarms[below]->boot_ms)
            below++;
        if (alarm->boot_ms <= heap->alarms[below]->boot_ms)
            break;
        put(heap, place, heap->alarms[below]);
        place = below;
    }
    put(heap, place, alarm);
}

void alarm_set(struct alarm_heap *heap, struct alarm *alarm, int64_t boot_ms)
{
    alarm_clear(heap, alarm);
    alarm->boot_ms = boot_ms;
    if (heap->count == heap->capacity) {
        heap->capacity = heap->capacity ? heap->capacity * 2 : 64;
        heap->alarms = mem_resize(heap->alarms, heap->capacity * sizeof *heap->alarms);
    }
    sift_up(heap, heap->count++, alarm);
}

void alarm_clear(struct alarm_heap *heap, struct alarm *alarm)
{
    size_t place = alarm->place;
    struct alarm *last;

    if (place == 0)
        return;
    alarm->place = 0;
    last = heap->alarms[--heap->count];
    if (last == alarm)
        return;
    place--;
    if (place > 0 && last->boot_ms < heap->alarms[(place - 1) / 2]->boot_ms)
        sift_up(heap, place, last);
    else
        sift_down(heap, place, last);
}

int64_t alarm_next(const struct alarm_heap *heap)
{
    return heap->count ? heap->alarms[0]->boot_ms : -1;
}

struct alarm *alarm_take_due(struct alarm_heap *heap, int64_t now_ms)
{
    struct alarm *first;

    if (!heap->count || heap->alarms[0]->boot_ms > now_ms)
        return NULL;
    first = heap->alarms[0];
    alarm_clear(heap, first);
    return first;
}

/* clock.h - the port through which the engine knows time; a test sets it by hand. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include <stdint.h>

struct clock {
    int64_t (*boot_ms)(struct clock *clock); /* goes on in suspend, never jumps */
    int64_t (*utc_ms)(struct clock *clock);
    /* engine_on_time is wanted at this moment; replaces the one wanted before; -1: at none. */
    void (*wake_at)(struct clock *clock, int64_t boot_ms);
    /* By how much boot_ms may round down: nothing is due before that has passed as well. */
    int64_t rounding_ms;
};

#endif

/*
 * loop.h - the one event loop of a process, libuv behind it.
 * Everything here belongs to the loop's thread except loop_wake_send.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H
#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_timer;
struct loop_turn;
struct loop_wake;

typedef void loop_call(void *context);

struct loop *loop_new(void);
void loop_free(struct loop *loop); /* closes what is still open; everything of it must be stopped */
void loop_run(struct loop *loop);  /* until loop_stop */
void loop_stop(struct loop *loop);
/* Turns the loop until `is_done` says so or this time has come; what it said last. For what must
 * end before anything else goes on: opening and closing a part, never from within the loop. A
 * signal that comes during it is reported once the loop runs again. */
bool loop_run_until(struct loop *loop, bool (*is_done)(void *context), void *context,
                    int64_t boot_ms);
void *loop_uv(struct loop *loop); /* the uv_loop_t, for loop/ and net/ and wire/ only */

/* Called on the loop's thread some time after loop_wake_send, once for many sends. */
struct loop_wake *loop_wake_new(struct loop *loop, loop_call *call, void *context);
void loop_wake_send(struct loop_wake *wake); /* from any thread */
void loop_wake_free(struct loop_wake *wake); /* NULL is fine */

/* One-shot on the boot clock, which goes on while the machine sleeps; re-arming replaces. */
struct loop_timer *loop_timer_new(struct loop *loop, loop_call *call, void *context);
void loop_timer_at(struct loop_timer *timer, int64_t boot_ms);
void loop_timer_stop(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer); /* NULL is fine */

/* SIGINT, SIGTERM and SIGHUP come here. SIGPIPE and SIGXFSZ are ignored from the start. */
void loop_on_signal(struct loop *loop, void (*call)(void *context, int number), void *context);

/* Called each time before the loop goes to sleep; one per loop. */
void loop_before_sleep(struct loop *loop, loop_call *call, void *context);
/* The same, after that one, for parts that collect what a turn gave them to do. */
struct loop_turn *loop_turn_new(struct loop *loop, loop_call *call, void *context);
void loop_turn_free(struct loop_turn *turn); /* NULL is fine */

/* In builds with -Dcrash_points=true, SAYSO_CLOCK_RATE=N makes both clocks and timers N times as
 * fast for tests. N@MS: since that time of the boot clock, the same for all that tell times. */
int64_t loop_boot_ms(void); /* CLOCK_BOOTTIME */
int64_t loop_utc_ms(void);  /* CLOCK_REALTIME */

#endif

/*
 * power_cut.h - what a disk may hold after the power went at some point of a recorded run.
 * What was synced is there. Of what was written since, any subset of 512-byte sectors is there,
 * some of them torn: new up to a point, old behind it.
 */
#ifndef TESTS_POWER_CUT_H
#define TESTS_POWER_CUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault_vfs.h"

struct power_cut;

/* The main file exists from the start, empty. `log` is borrowed. */
struct power_cut *power_cut_new(const struct fault_log *log);
void power_cut_free(struct power_cut *cut);
/* Goes on to that position of the log; never back. */
void power_cut_advance(struct power_cut *cut, size_t position);
/* Writes one possible outcome to `path`, `path`-wal and `path`-journal; `seed` chooses which. */
void power_cut_write(const struct power_cut *cut, uint64_t seed, const char *path);

#endif

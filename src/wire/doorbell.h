/*
 * doorbell.h - where a service manager listens for a hub (sayso.socket), whoever needs one rings
 * there, and the manager starts it: its hub has the limits and the log that the unit gives it.
 */
#ifndef WIRE_DOORBELL_H
#define WIRE_DOORBELL_H
#include <stdbool.h>

struct place;

/* True once a hub has this place's lock. False: nobody listens there, none came in time,
 * or the one that came could not begin. */
bool doorbell_ring(const struct place *place);

#endif

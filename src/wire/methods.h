/* methods.h - the table of methods, for whoever speaks the wire on something else than the socket.
 */
#ifndef WIRE_METHODS_H
#define WIRE_METHODS_H
#include <stdbool.h>
#include <stddef.h>

/* The act is for desk_serve, or one of enum desk_hub_act. False: no such method. */
bool wire_find_method(const char *name, size_t *ret_act);
const char *wire_method_at(size_t index); /* every name in order, for tests; NULL: no more */
/* So many looks of one peer are under way at most, with a store that is far away; until one of them
 * has ended it is not read from. What they bring may be much, and nobody knows yet how much. */
enum { WIRE_LOOKS = 16 };
/* It reads, brings what it finds, and waits for nobody. */
bool wire_is_look(size_t act);
/* NULL: the wire has no such act. */
const char *wire_method_name(size_t act);

#endif

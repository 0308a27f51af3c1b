/* list.h - lists through the members `next` and `previous` of what they hold; NULL ends them. */
#ifndef BASE_LIST_H
#define BASE_LIST_H
#include <stddef.h>

/* In front of the others. */
#define LIST_ADD(first, thing)                                                                     \
    do {                                                                                           \
        (thing)->previous = NULL;                                                                  \
        (thing)->next = (first);                                                                   \
        if ((thing)->next)                                                                         \
            (thing)->next->previous = (thing);                                                     \
        (first) = (thing);                                                                         \
    } while (0)

#define LIST_REMOVE(first, thing)                                                                  \
    do {                                                                                           \
        if ((thing)->previous)                                                                     \
            (thing)->previous->next = (thing)->next;                                               \
        else                                                                                       \
            (first) = (thing)->next;                                                               \
        if ((thing)->next)                                                                         \
            (thing)->next->previous = (thing)->previous;                                           \
    } while (0)

#endif

/*
 * look_alikes.h - one code point for each family of shapes a person takes for each other.
 * The idea is the skeleton of Unicode Technical Standard 39, kept to single code points and to
 * pairs that are equal in common fonts; letters one script tells apart stay apart (no m for rn).
 */
#ifndef CORE_LOOK_ALIKES_H
#define CORE_LOOK_ALIKES_H
#include <stdint.h>

/* What the code point passes for, case kept: Cyrillic A is A. Others stay as they are. */
int32_t look_alike_of(int32_t code_point);

/* One code point for I, l, 1 and |, one for O and 0. Comes after look_alike_of. */
int32_t look_alike_stroke(int32_t code_point);

#endif

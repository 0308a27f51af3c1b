/*
 * confusables.h - one code point for each family of shapes a person takes for each other. The idea
 * is the skeleton of Unicode Technical Standard 39, kept to single code points and to pairs that
 * are equal in common fonts; letters one script tells apart stay apart (no m for rn).
 */
#ifndef CORE_CONFUSABLES_H
#define CORE_CONFUSABLES_H
#include <stdbool.h>
#include <stdint.h>

/* What the code point passes for, case kept: Cyrillic A is A. Others stay as they are. */
int32_t confusable_of(int32_t code_point);

/* One code point for I, l, 1 and |, one for O and 0. Comes after confusable_of. */
int32_t confusable_stroke(int32_t code_point);

/* What the sanitizer must know about a single code point. Pure tables where no library answers the
 * question: shape, direction, joining, look-alikes. Categories and pictographs are utf8proc's. */

enum unicode_point {
    UNICODE_ZERO_WIDTH_NON_JOINER = 0x200c,
    UNICODE_ZERO_WIDTH_JOINER = 0x200d,
    UNICODE_EMOJI_STYLE = 0xfe0f, /* variation selector 16 */
};

/* Scripts whose letters can be taken for each other; bits, so that a word can hold several. */
enum unicode_scripts {
    SCRIPT_LATIN = 1,
    SCRIPT_GREEK = 2,
    SCRIPT_CYRILLIC = 4,
    SCRIPT_ARMENIAN = 8,
    SCRIPT_CHEROKEE = 16,
    SCRIPT_COPTIC = 32,
    SCRIPT_LISU = 64,
};

bool unicode_is_control(int32_t code_point);  /* C0, DEL, C1 */
bool unicode_is_blank(int32_t code_point);    /* white space of any width, and the empty Braille */
bool unicode_is_steering(int32_t code_point); /* direction controls */
/* No shape of its own, or none that everybody agrees on (private use, noncharacters). The joiners
 * are among them; direction controls and variation selectors 1 to 16 are not. */
bool unicode_is_shapeless(int32_t code_point);
bool unicode_is_style(int32_t code_point); /* variation selectors 1 to 16 */
bool unicode_is_skin_tone(int32_t code_point);
bool unicode_is_pictograph(int32_t code_point);
bool unicode_is_stacking(int32_t code_point); /* marks drawn over or under their letter */
bool unicode_is_joining(int32_t code_point);  /* letters and marks of scripts that need joiners */
bool unicode_is_word(int32_t code_point);     /* letters, marks, digits */
unsigned unicode_scripts(int32_t code_point); /* of a letter; 0: none of the list above */

#endif

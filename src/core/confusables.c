/* confusables.c - the table, in ascending order, and its search by halving. */
#include "core/confusables.h"

#include <stddef.h>
#include <utf8proc.h>

#include "base/mem.h"

static const struct look_alike {
    int32_t shape, like;
} look_alikes[] = {
    /* Latin in other dress, and marks */
    { 0x00d7, 'x' },
    { 0x0131, 'i' },
    { 0x01a6, 'R' },
    { 0x01c0, '|' },
    { 0x01c3, '!' },
    { 0x0237, 'j' },
    { 0x0251, 'a' },
    { 0x0261, 'g' },
    { 0x0269, 'i' },
    { 0x026a, 'i' },
    { 0x028b, 'u' },
    { 0x02b9, '\'' },
    { 0x02bb, '\'' },
    { 0x02bc, '\'' },
    { 0x02bd, '\'' },
    { 0x02c8, '\'' },
    { 0x02d0, ':' },
    { 0x02d7, '-' },
    /* Greek */
    { 0x037f, 'J' },
    { 0x0391, 'A' },
    { 0x0392, 'B' },
    { 0x0395, 'E' },
    { 0x0396, 'Z' },
    { 0x0397, 'H' },
    { 0x0399, 'I' },
    { 0x039a, 'K' },
    { 0x039c, 'M' },
    { 0x039d, 'N' },
    { 0x039f, 'O' },
    { 0x03a1, 'P' },
    { 0x03a4, 'T' },
    { 0x03a5, 'Y' },
    { 0x03a7, 'X' },
    { 0x03b1, 'a' },
    { 0x03b3, 'y' },
    { 0x03b9, 'i' },
    { 0x03ba, 'k' },
    { 0x03bd, 'v' },
    { 0x03bf, 'o' },
    { 0x03c1, 'p' },
    { 0x03c5, 'u' },
    { 0x03f2, 'c' },
    { 0x03f3, 'j' },
    { 0x03f9, 'C' },
    /* Cyrillic */
    { 0x0405, 'S' },
    { 0x0406, 'I' },
    { 0x0408, 'J' },
    { 0x0410, 'A' },
    { 0x0412, 'B' },
    { 0x0415, 'E' },
    { 0x0417, '3' },
    { 0x041a, 'K' },
    { 0x041c, 'M' },
    { 0x041d, 'H' },
    { 0x041e, 'O' },
    { 0x0420, 'P' },
    { 0x0421, 'C' },
    { 0x0422, 'T' },
    { 0x0423, 'Y' },
    { 0x0425, 'X' },
    { 0x042c, 'b' },
    { 0x0430, 'a' },
    { 0x0433, 'r' },
    { 0x0435, 'e' },
    { 0x043a, 'k' },
    { 0x043e, 'o' },
    { 0x0440, 'p' },
    { 0x0441, 'c' },
    { 0x0443, 'y' },
    { 0x0445, 'x' },
    { 0x0455, 's' },
    { 0x0456, 'i' },
    { 0x0458, 'j' },
    { 0x0461, 'w' },
    { 0x0474, 'V' },
    { 0x0475, 'v' },
    { 0x04ae, 'Y' },
    { 0x04af, 'y' },
    { 0x04bb, 'h' },
    { 0x04bd, 'e' },
    { 0x04c0, 'I' },
    { 0x04cf, 'l' },
    { 0x04e0, '3' },
    { 0x0501, 'd' },
    { 0x050c, 'G' },
    { 0x051a, 'Q' },
    { 0x051b, 'q' },
    { 0x051c, 'W' },
    { 0x051d, 'w' },
    /* Armenian */
    { 0x053c, 'L' },
    { 0x054d, 'U' },
    { 0x054f, 'S' },
    { 0x0555, 'O' },
    { 0x0561, 'w' },
    { 0x0566, 'q' },
    { 0x0570, 'h' },
    { 0x0575, 'j' },
    { 0x0578, 'n' },
    { 0x057d, 'u' },
    { 0x0581, 'g' },
    { 0x0585, 'o' },
    /* Hebrew and Arabic */
    { 0x0589, ':' },
    { 0x05c0, '|' },
    { 0x05c3, ':' },
    { 0x066d, '*' },
    { 0x06d4, '-' },
    { 0x06f0, 0x0660 },
    { 0x06f1, 0x0661 },
    { 0x06f2, 0x0662 },
    { 0x06f3, 0x0663 },
    { 0x06f7, 0x0667 },
    { 0x06f8, 0x0668 },
    { 0x06f9, 0x0669 },
    /* zeros of Indic, Thai, Lao and Myanmar */
    { 0x0966, '0' },
    { 0x09e6, '0' },
    { 0x0a66, '0' },
    { 0x0ae6, '0' },
    { 0x0b66, '0' },
    { 0x0be6, '0' },
    { 0x0c66, '0' },
    { 0x0ce6, '0' },
    { 0x0d66, '0' },
    { 0x0e50, '0' },
    { 0x0ed0, '0' },
    { 0x1040, '0' },
    /* Cherokee */
    { 0x13a0, 'D' },
    { 0x13a1, 'R' },
    { 0x13a2, 'T' },
    { 0x13a5, 'i' },
    { 0x13a9, 'Y' },
    { 0x13aa, 'A' },
    { 0x13ab, 'J' },
    { 0x13ac, 'E' },
    { 0x13b3, 'W' },
    { 0x13b7, 'M' },
    { 0x13bb, 'H' },
    { 0x13bd, 'Y' },
    { 0x13c0, 'G' },
    { 0x13c2, 'h' },
    { 0x13c3, 'Z' },
    { 0x13ce, '4' },
    { 0x13cf, 'b' },
    { 0x13d2, 'R' },
    { 0x13d4, 'W' },
    { 0x13d5, 'S' },
    { 0x13d9, 'V' },
    { 0x13da, 'S' },
    { 0x13de, 'L' },
    { 0x13df, 'C' },
    { 0x13e2, 'P' },
    { 0x13e6, 'K' },
    { 0x13e7, 'd' },
    { 0x13ee, '6' },
    { 0x13f3, 'G' },
    { 0x13f4, 'B' },
    /* Canadian syllabics */
    { 0x142f, 'V' },
    { 0x144c, 'U' },
    { 0x146d, 'P' },
    { 0x146f, 'd' },
    { 0x1472, 'b' },
    { 0x148d, 'J' },
    { 0x14aa, 'L' },
    { 0x157c, 'H' },
    { 0x1587, 'R' },
    { 0x15b4, 'F' },
    { 0x15c5, 'A' },
    { 0x15de, 'D' },
    { 0x15f0, 'M' },
    { 0x15f7, 'B' },
    { 0x166d, 'X' },
    /* Latin in other dress, and marks */
    { 0x1d04, 'c' },
    { 0x1d0f, 'o' },
    { 0x1d1c, 'u' },
    { 0x1d20, 'v' },
    { 0x1d21, 'w' },
    { 0x1d22, 'z' },
    { 0x2010, '-' },
    { 0x2012, '-' },
    { 0x2013, '-' },
    { 0x2014, '-' },
    { 0x2015, '-' },
    { 0x2018, '\'' },
    { 0x2019, '\'' },
    { 0x201a, ',' },
    { 0x201b, '\'' },
    { 0x201c, '"' },
    { 0x201d, '"' },
    { 0x201f, '"' },
    { 0x2032, '\'' },
    { 0x2039, '<' },
    { 0x203a, '>' },
    { 0x2043, '-' },
    { 0x2044, '/' },
    { 0x204e, '*' },
    { 0x212e, 'e' },
    { 0x2212, '-' },
    { 0x2215, '/' },
    { 0x2216, '\\' },
    { 0x2217, '*' },
    { 0x2223, '|' },
    { 0x2236, ':' },
    { 0x223c, '~' },
    { 0x2500, '-' },
    { 0x2502, '|' },
    { 0x2571, '/' },
    { 0x2758, '|' },
    { 0x276e, '<' },
    { 0x276f, '>' },
    { 0x29f5, '\\' },
    { 0x29f8, '/' },
    /* Coptic */
    { 0x2c82, 'B' },
    { 0x2c85, 'r' },
    { 0x2c8e, 'H' },
    { 0x2c92, 'I' },
    { 0x2c94, 'K' },
    { 0x2c98, 'M' },
    { 0x2c9a, 'N' },
    { 0x2c9e, 'O' },
    { 0x2c9f, 'o' },
    { 0x2ca2, 'P' },
    { 0x2ca3, 'p' },
    { 0x2ca4, 'C' },
    { 0x2ca5, 'c' },
    { 0x2ca6, 'T' },
    { 0x2ca8, 'Y' },
    { 0x2cac, 'X' },
    /* Tifinagh, kana and ideographs */
    { 0x2d54, 'O' },
    { 0x3007, '0' },
    { 0x3078, 0x30d8 },
    { 0x30a8, 0x5de5 },
    { 0x30ab, 0x529b },
    { 0x30bf, 0x5915 },
    { 0x30c8, 0x535c },
    { 0x30cb, 0x4e8c },
    { 0x30cf, 0x516b },
    { 0x30ed, 0x53e3 },
    { 0x30fc, '-' },
    { 0x4e00, '-' },
    { 0x56d7, 0x53e3 },
    /* Lisu */
    { 0xa4d0, 'B' },
    { 0xa4d1, 'P' },
    { 0xa4d3, 'D' },
    { 0xa4d4, 'T' },
    { 0xa4d6, 'G' },
    { 0xa4d7, 'K' },
    { 0xa4d9, 'J' },
    { 0xa4da, 'C' },
    { 0xa4dc, 'Z' },
    { 0xa4dd, 'F' },
    { 0xa4df, 'M' },
    { 0xa4e0, 'N' },
    { 0xa4e1, 'L' },
    { 0xa4e2, 'S' },
    { 0xa4e3, 'R' },
    { 0xa4e6, 'V' },
    { 0xa4e7, 'H' },
    { 0xa4ea, 'W' },
    { 0xa4eb, 'X' },
    { 0xa4ec, 'Y' },
    { 0xa4ee, 'A' },
    { 0xa4f0, 'E' },
    { 0xa4f2, 'I' },
    { 0xa4f3, 'O' },
    { 0xa4f4, 'U' },
    /* Latin in other dress, and marks */
    { 0xa731, 's' },
    { 0xa789, ':' },
    /* Cherokee */
    { 0xab75, 'i' },
    { 0xab81, 'r' },
    { 0xab83, 'w' },
    { 0xab93, 'z' },
    { 0xaba9, 'v' },
    { 0xabaa, 's' },
    { 0xabaf, 'c' },
};

int32_t look_alike_of(int32_t code_point)
{
    size_t low = 0, high = ARRAY_LEN(look_alikes);

    if (code_point < look_alikes[0].shape)
        return code_point;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (code_point == look_alikes[middle].shape)
            return look_alikes[middle].like;
        if (code_point < look_alikes[middle].shape)
            high = middle;
        else
            low = middle + 1;
    }
    return code_point;
}

/* The bar stands for its family: were it l, case folding would add L, which nobody mistakes. */
int32_t look_alike_stroke(int32_t code_point)
{
    switch (code_point) {
    case 'I':
    case 'l':
    case '1':
        return '|';
    case 'O':
    case '0':
        return 'o';
    default:
        return code_point;
    }
}

/* Ranges of the Unicode Character Database, version 14 as utf8proc 2.8 has it. Every table is in
 * ascending order: it is searched by halving. */

struct range {
    int32_t first, last;
    unsigned scripts;
};

static const struct range blanks[] = {
    { 0x0009, 0x000d, 0 }, { 0x0020, 0x0020, 0 }, { 0x0085, 0x0085, 0 }, { 0x00a0, 0x00a0, 0 },
    { 0x1680, 0x1680, 0 }, { 0x2000, 0x200a, 0 }, { 0x2028, 0x2029, 0 }, { 0x202f, 0x202f, 0 },
    { 0x205f, 0x205f, 0 }, { 0x2800, 0x2800, 0 }, { 0x3000, 0x3000, 0 },
};

static const struct range steering[] = {
    { 0x061c, 0x061c, 0 },
    { 0x200e, 0x200f, 0 },
    { 0x202a, 0x202e, 0 },
    { 0x2066, 0x2069, 0 },
};

/* Category Cf without direction controls and without the Arabic, Syriac and Kaithi signs that are
 * drawn around numbers; fillers; separators; default-ignorable; private use; noncharacters. */
static const struct range shapeless[] = {
    { 0x00ad, 0x00ad, 0 },    { 0x034f, 0x034f, 0 },   { 0x115f, 0x1160, 0 },
    { 0x17b4, 0x17b5, 0 },    { 0x180b, 0x180f, 0 },   { 0x200b, 0x200d, 0 },
    { 0x2028, 0x2029, 0 },    { 0x2060, 0x2065, 0 },   { 0x206a, 0x206f, 0 },
    { 0x3164, 0x3164, 0 },    { 0xe000, 0xf8ff, 0 },   { 0xfdd0, 0xfdef, 0 },
    { 0xfeff, 0xfeff, 0 },    { 0xffa0, 0xffa0, 0 },   { 0xfff0, 0xfffb, 0 },
    { 0xfffe, 0xffff, 0 },    { 0x13430, 0x1343f, 0 }, { 0x1bca0, 0x1bca3, 0 },
    { 0x1d173, 0x1d17a, 0 },  { 0x1fffe, 0x1ffff, 0 }, { 0x2fffe, 0x2ffff, 0 },
    { 0x3fffe, 0x3ffff, 0 },  { 0x4fffe, 0x4ffff, 0 }, { 0x5fffe, 0x5ffff, 0 },
    { 0x6fffe, 0x6ffff, 0 },  { 0x7fffe, 0x7ffff, 0 }, { 0x8fffe, 0x8ffff, 0 },
    { 0x9fffe, 0x9ffff, 0 },  { 0xafffe, 0xaffff, 0 }, { 0xbfffe, 0xbffff, 0 },
    { 0xcfffe, 0xcffff, 0 },  { 0xdfffe, 0xdffff, 0 }, { 0xe0000, 0xe0fff, 0 },
    { 0xefffe, 0x10ffff, 0 },
};

/* Cursive scripts, and those of Indic descent whose conjuncts are spelled with joiners. */
static const struct range joining[] = {
    { 0x0600, 0x07ff, 0 },   /* Arabic, Syriac, Thaana, NKo */
    { 0x0840, 0x0dff, 0 },   /* Mandaic, Arabic, Devanagari to Sinhala */
    { 0x0f00, 0x109f, 0 },   /* Tibetan, Myanmar */
    { 0x1700, 0x18af, 0 },   /* Philippine scripts, Khmer, Mongolian */
    { 0x1900, 0x194f, 0 },   /* Limbu */
    { 0x1a00, 0x1aaf, 0 },   /* Buginese, Tai Tham */
    { 0x1b00, 0x1c4f, 0 },   /* Balinese, Sundanese, Batak, Lepcha */
    { 0x1cd0, 0x1cff, 0 },   /* Vedic marks */
    { 0xa800, 0xa8ff, 0 },   /* Syloti Nagri, Phags-pa, Saurashtra, Devanagari */
    { 0xa930, 0xa95f, 0 },   /* Rejang */
    { 0xa980, 0xaa7f, 0 },   /* Javanese, Cham, Myanmar */
    { 0xaae0, 0xaaff, 0 },   /* Meetei Mayek */
    { 0xabc0, 0xabff, 0 },   /* Meetei Mayek */
    { 0xfb50, 0xfdff, 0 },   /* Arabic presentation forms */
    { 0xfe70, 0xfefc, 0 },   /* Arabic presentation forms */
    { 0x10a00, 0x10a5f, 0 }, /* Kharoshthi */
    { 0x10ac0, 0x10aff, 0 }, /* Manichaean */
    { 0x10b80, 0x10baf, 0 }, /* Psalter Pahlavi */
    { 0x10d00, 0x10d3f, 0 }, /* Hanifi Rohingya */
    { 0x10ec0, 0x10eff, 0 }, /* Arabic */
    { 0x10f30, 0x10fdf, 0 }, /* Sogdian, Old Uyghur, Chorasmian */
    { 0x11000, 0x11eff, 0 }, /* Brahmi and its descendants */
    { 0x1e900, 0x1e95f, 0 }, /* Adlam */
    { 0x1ee00, 0x1eeff, 0 }, /* Arabic mathematics */
};

/* The mathematical alphabets belong to no script, yet they are read as Latin and Greek. */
static const struct range scripts[] = {
    { 0x0041, 0x005a, SCRIPT_LATIN },    { 0x0061, 0x007a, SCRIPT_LATIN },
    { 0x00aa, 0x00aa, SCRIPT_LATIN },    { 0x00ba, 0x00ba, SCRIPT_LATIN },
    { 0x00c0, 0x02b8, SCRIPT_LATIN },    { 0x02e0, 0x02e4, SCRIPT_LATIN },
    { 0x0370, 0x03e1, SCRIPT_GREEK },    { 0x03e2, 0x03ef, SCRIPT_COPTIC },
    { 0x03f0, 0x03ff, SCRIPT_GREEK },    { 0x0400, 0x052f, SCRIPT_CYRILLIC },
    { 0x0531, 0x0588, SCRIPT_ARMENIAN }, { 0x13a0, 0x13ff, SCRIPT_CHEROKEE },
    { 0x1c80, 0x1c8f, SCRIPT_CYRILLIC }, { 0x1d00, 0x1d25, SCRIPT_LATIN },
    { 0x1d26, 0x1d2a, SCRIPT_GREEK },    { 0x1d2b, 0x1d2b, SCRIPT_CYRILLIC },
    { 0x1d2c, 0x1d5c, SCRIPT_LATIN },    { 0x1d5d, 0x1d61, SCRIPT_GREEK },
    { 0x1d62, 0x1d65, SCRIPT_LATIN },    { 0x1d66, 0x1d6a, SCRIPT_GREEK },
    { 0x1d6b, 0x1d77, SCRIPT_LATIN },    { 0x1d78, 0x1d78, SCRIPT_CYRILLIC },
    { 0x1d79, 0x1dbe, SCRIPT_LATIN },    { 0x1dbf, 0x1dbf, SCRIPT_GREEK },
    { 0x1e00, 0x1eff, SCRIPT_LATIN },    { 0x1f00, 0x1fff, SCRIPT_GREEK },
    { 0x2071, 0x2071, SCRIPT_LATIN },    { 0x207f, 0x207f, SCRIPT_LATIN },
    { 0x2090, 0x209c, SCRIPT_LATIN },    { 0x2126, 0x2126, SCRIPT_GREEK },
    { 0x212a, 0x212b, SCRIPT_LATIN },    { 0x2132, 0x2132, SCRIPT_LATIN },
    { 0x214e, 0x214e, SCRIPT_LATIN },    { 0x2160, 0x2188, SCRIPT_LATIN },
    { 0x2c60, 0x2c7f, SCRIPT_LATIN },    { 0x2c80, 0x2cff, SCRIPT_COPTIC },
    { 0x2de0, 0x2dff, SCRIPT_CYRILLIC }, { 0xa4d0, 0xa4fd, SCRIPT_LISU },
    { 0xa640, 0xa69f, SCRIPT_CYRILLIC }, { 0xa722, 0xa787, SCRIPT_LATIN },
    { 0xa78b, 0xa7ff, SCRIPT_LATIN },    { 0xab30, 0xab64, SCRIPT_LATIN },
    { 0xab65, 0xab65, SCRIPT_GREEK },    { 0xab66, 0xab69, SCRIPT_LATIN },
    { 0xab70, 0xabbf, SCRIPT_CHEROKEE }, { 0xfb00, 0xfb06, SCRIPT_LATIN },
    { 0xfb13, 0xfb17, SCRIPT_ARMENIAN }, { 0xff21, 0xff3a, SCRIPT_LATIN },
    { 0xff41, 0xff5a, SCRIPT_LATIN },    { 0x10780, 0x107ba, SCRIPT_LATIN },
    { 0x1d400, 0x1d6a5, SCRIPT_LATIN },  { 0x1d6a8, 0x1d7cb, SCRIPT_GREEK },
    { 0x1df00, 0x1df1e, SCRIPT_LATIN },
};

static const struct range *find(const struct range *ranges, size_t count, int32_t code_point)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (code_point < ranges[middle].first)
            high = middle;
        else if (code_point > ranges[middle].last)
            low = middle + 1;
        else
            return &ranges[middle];
    }
    return NULL;
}

#define IS_IN(ranges, code_point) (find(ranges, ARRAY_LEN(ranges), code_point) != NULL)

static bool has_category(int32_t code_point, utf8proc_category_t first, utf8proc_category_t last)
{
    utf8proc_category_t category = utf8proc_category(code_point);

    return category >= first && category <= last;
}

bool unicode_is_control(int32_t code_point)
{
    return has_category(code_point, UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CC);
}

bool unicode_is_blank(int32_t code_point)
{
    return IS_IN(blanks, code_point);
}

bool unicode_is_steering(int32_t code_point)
{
    return IS_IN(steering, code_point);
}

bool unicode_is_shapeless(int32_t code_point)
{
    return IS_IN(shapeless, code_point);
}

bool unicode_is_style(int32_t code_point)
{
    return code_point >= 0xfe00 && code_point <= UNICODE_EMOJI_STYLE;
}

bool unicode_is_skin_tone(int32_t code_point)
{
    return code_point >= 0x1f3fb && code_point <= 0x1f3ff;
}

bool unicode_is_pictograph(int32_t code_point)
{
    return utf8proc_get_property(code_point)->boundclass ==
           UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool unicode_is_stacking(int32_t code_point)
{
    utf8proc_category_t category = utf8proc_category(code_point);

    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME;
}

bool unicode_is_joining(int32_t code_point)
{
    return IS_IN(joining, code_point) && !unicode_is_shapeless(code_point) &&
           has_category(code_point, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_ME);
}

bool unicode_is_word(int32_t code_point)
{
    return has_category(code_point, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_NO);
}

unsigned unicode_scripts(int32_t code_point)
{
    const struct range *range = find(scripts, ARRAY_LEN(scripts), code_point);

    return range ? range->scripts : 0;
}

/* confusables.c - the tables, in ascending order, and their search by halving. */
#include "core/confusables.h"

#include <stddef.h>
#include <uchar.h>
#include <utf8proc.h>

#include "base/mem.h"

/* What the code points from `first` on pass for, one after the other; a blank: for nothing else. */
static const struct confusables {
    uint16_t first;
    char16_t likes[32];
} confusables[] = {
    /* Latin in other dress, and marks */
    { 0x00d7, u"x" },
    { 0x0131, u"i" },
    { 0x01a6, u"R" },
    { 0x01c0, u"|  !" },
    { 0x0237, u"j" },
    { 0x0251, u"a" },
    { 0x0261, u"g       ii" },
    { 0x028b, u"u" },
    { 0x02b9, u"' '''          '       :      -" },
    /* Greek */
    { 0x037f, u"J" },
    { 0x0391, u"AB  EZH IK MN O P  TY X" },
    { 0x03b1, u"a y     ik  v o p   u" },
    { 0x03f2, u"cj     C" },
    /* Cyrillic */
    { 0x0405, u"SI J       A B  E 3  K MHO PCTY" },
    { 0x0425, u"X      b   a  r e    k   o pc y" },
    { 0x0445, u"x" },
    { 0x0455, u"si j        w" },
    { 0x0474, u"Vv" },
    { 0x04ae, u"Yy" },
    { 0x04bb, u"h e  I" },
    { 0x04cf, u"l" },
    { 0x04e0, u"3" },
    { 0x0501, u"d          G" },
    { 0x051a, u"QqWw" },
    /* Armenian */
    { 0x053c, u"L" },
    { 0x054d, u"U S     O" },
    { 0x0561, u"w    q         h    j  n    u" },
    { 0x0581, u"g   o" },
    /* Hebrew and Arabic */
    { 0x0589, u":" },
    { 0x05c0, u"|  :" },
    { 0x066d, u"*" },
    { 0x06d4, u"-" },
    { 0x06f0, u"\u0660\u0661\u0662\u0663   \u0667\u0668\u0669" },
    /* zeros of Indic, Thai, Lao and Myanmar */
    { 0x0966, u"0" },
    { 0x09e6, u"0" },
    { 0x0a66, u"0" },
    { 0x0ae6, u"0" },
    { 0x0b66, u"0" },
    { 0x0be6, u"0" },
    { 0x0c66, u"0" },
    { 0x0ce6, u"0" },
    { 0x0d66, u"0" },
    { 0x0e50, u"0" },
    { 0x0ed0, u"0" },
    { 0x1040, u"0" },
    /* Cherokee */
    { 0x13a0, u"DRT  i   YAJE      W   M   H Y" },
    { 0x13c0, u"G hZ          4b  R WS   VS   LC" },
    { 0x13e2, u"P   Kd      6    GB" },
    /* Canadian syllabics */
    { 0x142f, u"V" },
    { 0x144c, u"U" },
    { 0x146d, u"P d  b" },
    { 0x148d, u"J" },
    { 0x14aa, u"L" },
    { 0x157c, u"H          R" },
    { 0x15b4, u"F" },
    { 0x15c5, u"A" },
    { 0x15de, u"D" },
    { 0x15f0, u"M      B" },
    { 0x166d, u"X" },
    /* Latin in other dress, and marks */
    { 0x1d04, u"c          o" },
    { 0x1d1c, u"u   vwz" },
    { 0x2010, u"- ----  '','\"\" \"" },
    { 0x2032, u"'      <>        -/         *" },
    { 0x212e, u"e" },
    { 0x2212, u"-  /\\*" },
    { 0x2223, u"|" },
    { 0x2236, u":     ~" },
    { 0x2500, u"- |" },
    { 0x2571, u"/" },
    { 0x2758, u"|" },
    { 0x276e, u"<>" },
    { 0x29f5, u"\\  /" },
    /* Coptic */
    { 0x2c82, u"B  r        H   I K   M N   Oo" },
    { 0x2ca2, u"PpCcT Y   X" },
    /* Tifinagh, kana and ideographs */
    { 0x2d54, u"O" },
    { 0x3007, u"0" },
    { 0x3078, u"\u30d8" },
    { 0x30a8, u"\u5de5  \u529b" },
    { 0x30bf, u"\u5915        \u535c  \u4e8c   \u516b" },
    { 0x30ed, u"\u53e3" },
    { 0x30fc, u"-" },
    { 0x4e00, u"-" },
    { 0x56d7, u"\u53e3" },
    /* Lisu */
    { 0xa4d0, u"BP DT GK JC ZF MNLSR  VH  WXY A" },
    { 0xa4f0, u"E IOU" },
    /* Latin in other dress, and marks */
    { 0xa731, u"s" },
    { 0xa789, u":" },
    /* Cherokee */
    { 0xab75, u"i" },
    { 0xab81, u"r w" },
    { 0xab93, u"z" },
    { 0xaba9, u"vs    c" },
};

int32_t confusable_of(int32_t code_point)
{
    size_t low = 0, high = ARRAY_LEN(confusables);
    const struct confusables *row;

    if (code_point < confusables[0].first)
        return code_point;
    while (high - low > 1) { /* the last row that begins before it */
        size_t middle = low + (high - low) / 2;

        if (code_point < confusables[middle].first)
            high = middle;
        else
            low = middle;
    }
    row = &confusables[low];
    if (code_point >= row->first + (int32_t)ARRAY_LEN(row->likes) ||
        row->likes[code_point - row->first] <= ' ')
        return code_point;
    return row->likes[code_point - row->first];
}

/* The bar stands for its family: were it l, case folding would add L, which looks different. */
int32_t confusable_stroke(int32_t code_point)
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

/* Ranges of Unicode 14, as utf8proc 2.8 has it; ascending, since they are searched by halving. */

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

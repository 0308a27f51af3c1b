/* text_format.c - see text_format.h. */
#include "core/text_format.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "i18n/i18n.h"

#define DIGITS  "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

enum { DOMAIN_LABEL_BYTES = 63 };

/* `shape` has 9 for a digit; any other byte stands for itself. */
static bool has_shape(const char *text, const char *shape)
{
    for (; *shape != '\0'; shape++, text++) {
        if (*shape == '9' ? *text < '0' || *text > '9' : *text != *shape)
            return false;
    }
    return true;
}

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

static bool starts_with_date(const char *text)
{
    static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int century, year, month, day;

    if (!has_shape(text, "9999-99-99"))
        return false;
    century = two_digits(text);
    year = two_digits(text + 2);
    month = two_digits(text + 5);
    day = two_digits(text + 8);
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return false;
    return month != 2 || day < 29 || (year ? year : century) % 4 == 0;
}

static bool starts_with_clock(const char *text)
{
    return has_shape(text, "99:99") && two_digits(text) < 24 && two_digits(text + 3) < 60;
}

static bool is_date(const char *text)
{
    return starts_with_date(text) && text[10] == '\0';
}

/* RFC 3339. */
static bool is_date_time(const char *text)
{
    if (!starts_with_date(text) || (text[10] != 'T' && text[10] != 't') ||
        !starts_with_clock(text + 11) || !has_shape(text + 16, ":99") || two_digits(text + 17) > 59)
        return false;
    text += 19;
    if (has_shape(text, ".9"))
        text += 1 + strspn(text + 1, DIGITS);
    if (*text == 'Z' || *text == 'z')
        return text[1] == '\0';
    return (*text == '+' || *text == '-') && starts_with_clock(text + 1) && text[6] == '\0';
}

/* As browsers judge <input type=email>, so that no channel takes what another refuses. */
static bool is_email(const char *text)
{
    size_t length = strspn(text, LETTERS DIGITS ".!#$%&'*+/=?^_`{|}~-");

    if (length == 0 || text[length] != '@')
        return false;
    do {
        text += length + 1;
        length = strspn(text, LETTERS DIGITS "-");
        if (length == 0 || length > DOMAIN_LABEL_BYTES || text[0] == '-' || text[length - 1] == '-')
            return false;
    } while (text[length] == '.');
    return text[length] == '\0';
}

/* RFC 3986: a scheme, a colon, and then only what may stand in a URI. */
static bool is_uri(const char *text)
{
    size_t scheme = strspn(text, LETTERS DIGITS "+-.");
    const char *rest = text + scheme + 1;

    if (strspn(text, LETTERS) == 0 || text[scheme] != ':' || *rest == '\0')
        return false;
    for (const char *sign = strchr(rest, '%'); sign; sign = strchr(sign + 1, '%')) {
        if (strspn(sign + 1, DIGITS "abcdefABCDEF") < 2)
            return false;
    }
    return rest[strspn(rest, LETTERS DIGITS "-._~:/?#[]@!$&'()*+,;=%")] == '\0';
}

const char *const text_format_names[] = { "email", "uri", "date", "date-time", NULL };

/* In the same order. */
static const struct {
    bool (*is_so)(const char *text);
    const char *wanted;
} formats[] = {
    { is_email, "an e-mail address such as ada@example.org" },
    { is_uri, "an address such as https://example.org/" },
    { is_date, "a date such as 2026-11-15" },
    { is_date_time, "a date and time such as 2026-11-15T12:00:00Z" },
};

bool text_format_check(const char *format, const char *text, const char *path, struct error *err)
{
    size_t i = text_index(format, text_format_names, ARRAY_LEN(formats));

    if (i == ARRAY_LEN(formats) || formats[i].is_so(text))
        return true;
    return error_say(err, ERROR_bad_format, path, TEXT_REASON_ANSWER_FORMAT, "hint",
                     formats[i].wanted, NULL);
}

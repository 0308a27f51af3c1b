#include "base/metrics.h"

#include <inttypes.h>

#include "base/text.h"

void metrics_observe(struct metrics_histogram *histogram, const struct metrics_scale *scale,
                     int64_t value)
{
    size_t at = 0;

    while (at < scale->count && value > scale->bounds[at])
        at++;
    histogram->counts[at]++;
    histogram->sum += value;
}

void metrics_write_head(struct text *out, const char *name, const char *type, const char *help)
{
    text_add_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_write_quoted(struct text *out, const char *label_value)
{
    text_add_char(out, '"');
    for (const char *at = label_value; *at; at++) {
        if (*at == '\n')
            text_add_text(out, "\\n");
        else if (*at == '"' || *at == '\\')
            text_add_format(out, "\\%c", *at);
        else
            text_add_char(out, *at);
    }
    text_add_char(out, '"');
}

void metrics_write_value(struct text *out, const char *name, const char *label,
                         const char *label_value, int64_t value)
{
    text_add_text(out, name);
    if (label) {
        text_add_format(out, "{%s=", label);
        metrics_write_quoted(out, label_value);
        text_add_char(out, '}');
    }
    text_add_format(out, " %" PRId64 "\n", value);
}

void metrics_write_one(struct text *out, const char *name, const char *type, const char *help,
                       int64_t value)
{
    metrics_write_head(out, name, type, help);
    metrics_write_value(out, name, NULL, NULL, value);
}

/* 0.5 and 30, never 30.000: a bound is a name too. */
static void write_scaled(struct text *out, int64_t value, int64_t per_unit)
{
    int64_t rest = value % per_unit;

    text_add_format(out, "%" PRId64, value / per_unit);
    if (rest)
        text_add_char(out, '.');
    for (int64_t unit = per_unit / 10; unit > 0; unit /= 10) {
        if (rest == 0)
            return;
        text_add_format(out, "%" PRId64, rest / unit);
        rest %= unit;
    }
}

void metrics_write_histogram(struct text *out, const char *name, const char *help,
                             const struct metrics_histogram *histogram,
                             const struct metrics_scale *scale)
{
    int64_t total = 0;

    metrics_write_head(out, name, "histogram", help);
    for (size_t i = 0; i < scale->count; i++) {
        total += histogram->counts[i];
        text_add_format(out, "%s_bucket{le=\"", name);
        write_scaled(out, scale->bounds[i], scale->per_unit);
        text_add_format(out, "\"} %" PRId64 "\n", total);
    }
    total += histogram->counts[scale->count];
    text_add_format(out, "%s_bucket{le=\"+Inf\"} %" PRId64 "\n%s_sum ", name, total, name);
    write_scaled(out, histogram->sum, scale->per_unit);
    text_add_format(out, "\n%s_count %" PRId64 "\n", name, total);
}

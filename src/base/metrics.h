/*
 * metrics.h - figures in the text format that Prometheus reads (exposition format 0.0.4).
 * Every part of the hub counts for itself, on the loop's thread, and writes its own lines.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H
#include <stddef.h>
#include <stdint.h>

struct text;

enum { METRICS_BOUNDS_MAX = 12 };

/* How often values fell up to each bound; the last count is of those above all bounds. */
struct metrics_histogram {
    int64_t counts[METRICS_BOUNDS_MAX + 1];
    int64_t sum;
};
struct metrics_scale {
    const int64_t *bounds; /* rising */
    size_t count;          /* at most METRICS_BOUNDS_MAX */
    int64_t per_unit;      /* 1000: values are thousandths of what is printed */
};
void metrics_observe(struct metrics_histogram *histogram, const struct metrics_scale *scale,
                     int64_t value);

/* `type` is counter, gauge or histogram; one head, then the values of that name. */
void metrics_write_head(struct text *out, const char *name, const char *type, const char *help);
/* `label` NULL: none. Its value is quoted and escaped here. */
void metrics_write_value(struct text *out, const char *name, const char *label,
                         const char *label_value, int64_t value);
void metrics_write_histogram(struct text *out, const char *name, const char *help,
                             const struct metrics_histogram *histogram,
                             const struct metrics_scale *scale);
/* A head and one value without labels. */
void metrics_write_one(struct text *out, const char *name, const char *type, const char *help,
                       int64_t value);
/* "…" with what the format wants escaped; for values with more than one label. */
void metrics_write_quoted(struct text *out, const char *label_value);

#endif

/*
 * test_base_metrics.c - figures as Prometheus reads them: heads, escaped labels, counts that add
 * up. Proves: R10.4
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/metrics.h"
#include "base/text.h"

static const int64_t bounds[] = { 500, 1000, 30000 };
static const struct metrics_scale seconds = { bounds, ARRAY_LEN(bounds), 1000 };

static void values_and_labels(void **state)
{
    struct text out = { 0 };

    (void)state;
    metrics_write_head(&out, "a_total", "counter", "What it is.");
    metrics_write_value(&out, "a_total", "path", "/x\"\\\n", 7);
    metrics_write_one(&out, "b", "gauge", "Now.", -1);
    assert_string_equal(text_string(&out), "# HELP a_total What it is.\n"
                                           "# TYPE a_total counter\n"
                                           "a_total{path=\"/x\\\"\\\\\\n\"} 7\n"
                                           "# HELP b Now.\n"
                                           "# TYPE b gauge\n"
                                           "b -1\n");
    text_release(&out);
}

static void a_bound_belongs_to_its_bucket(void **state)
{
    static const int64_t values[] = { 0, 500, 501, 1000, 30000, 30001, 1000000 };
    struct metrics_histogram histogram = { 0 };
    struct text out = { 0 };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        metrics_observe(&histogram, &seconds, values[i]);
    metrics_write_histogram(&out, "h_seconds", "Waited.", &histogram, &seconds);
    assert_string_equal(text_string(&out), "# HELP h_seconds Waited.\n"
                                           "# TYPE h_seconds histogram\n"
                                           "h_seconds_bucket{le=\"0.5\"} 2\n"
                                           "h_seconds_bucket{le=\"1\"} 4\n"
                                           "h_seconds_bucket{le=\"30\"} 5\n"
                                           "h_seconds_bucket{le=\"+Inf\"} 7\n"
                                           "h_seconds_sum 1062.002\n"
                                           "h_seconds_count 7\n");
    text_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_labels),
        cmocka_unit_test(a_bound_belongs_to_its_bucket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

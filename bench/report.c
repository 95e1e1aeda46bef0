/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <math.h>

static bool has_baseline(const struct bench_row *row)
{
    return row->bench->kind == BENCH_TIMED;
}

static double shown(double n, int digits)
{
    double scale = digits == 1 ? 10 : 100;
    return round(n * scale) / scale;
}

bool bench_meets(const struct bench_row *row)
{
    switch (row->bench->limited) {
    case BENCH_VALUE:
        return shown(row->value, 1) <= row->bench->limit;
    case BENCH_RATIO:
        return shown(row->ratio, 2) <= row->bench->limit;
    default:
        return true;
    }
}

static const char *verdict(const struct bench_row *row)
{
    if (row->bench->limited == BENCH_NO_LIMIT)
        return "";
    return row->missing ? "not measured" : bench_meets(row) ? "meets" : "MISSES";
}

static void limit_text(char *buf, size_t size, const struct bench *b)
{
    buf[0] = '\0';
    if (b->limited == BENCH_VALUE)
        snprintf(buf, size, "%.1f", b->limit);
    else if (b->limited == BENCH_RATIO)
        snprintf(buf, size, "%.2fx", b->limit);
}

void bench_table_head(FILE *out)
{
    fprintf(out, "%-28s %10s %10s %8s %8s %8s  %-13s %s\n", "bench", "value", "baseline", "ratio", "spread",
            "limit", "unit", "");
}

void bench_table_row(FILE *out, const struct bench_row *row)
{
    char limit[16];
    limit_text(limit, sizeof limit, row->bench);
    fprintf(out, "%-28s ", row->bench->name);
    if (row->missing)
        fprintf(out, "%10s %10s %8s %8s", "-", "-", "-", "-");
    else if (has_baseline(row))
        fprintf(out, "%10.1f %10.1f %7.2fx %7.0f%%", row->value, row->baseline, row->ratio,
                row->spread * 100);
    else
        fprintf(out, "%10.1f %10s %8s %8s", row->value, "-", "-", "-");
    fprintf(out, " %8s  %-13s %s\n", limit, row->bench->unit, verdict(row));
    fflush(out);
}

void bench_table_end(FILE *out, const struct bench_row *rows, size_t n)
{
    size_t limits = 0, met = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].bench->limited == BENCH_NO_LIMIT || rows[i].missing)
            continue;
        limits++;
        met += bench_meets(&rows[i]);
    }
    fprintf(out, "%zu of %zu limits met\n", met, limits);
}

static void json_number(FILE *out, const char *name, bool there, double n)
{
    if (there && isfinite(n))
        fprintf(out, ", \"%s\": %.6g", name, n);
    else
        fprintf(out, ", \"%s\": null", name);
}

void bench_json(FILE *out, const struct bench_row *rows, size_t n)
{
    fputs("[", out);
    for (size_t i = 0; i < n; i++) {
        const struct bench_row *r = &rows[i];
        const struct bench *b = r->bench;
        fprintf(out, "%s\n  {\"name\": \"%s\"", i ? "," : "", b->name);
        json_number(out, "value", !r->missing, r->value);
        fprintf(out, ", \"unit\": \"%s\"", b->unit);
        json_number(out, "baseline", has_baseline(r), r->baseline);
        json_number(out, "ratio", has_baseline(r), r->ratio);
        json_number(out, "spread", has_baseline(r), r->spread);
        json_number(out, b->limited == BENCH_RATIO ? "max_ratio" : "max_value", b->limited != BENCH_NO_LIMIT,
                    b->limit);
        fprintf(out, ", \"meets\": %s}",
                b->limited == BENCH_NO_LIMIT || r->missing ? "null"
                : bench_meets(r)                           ? "true"
                                                           : "false");
    }
    fputs("\n]\n", out);
}

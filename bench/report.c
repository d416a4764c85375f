/* The results: a table on standard output and a JSON file. */
#include "report.h"

#include <stdio.h>

const char *const limit_names[LIMIT_COUNT] = {"memcpy", "1 read + 1 write", "2 reads + 1 write",
                                              "read only", "write only"};

void report_limits(const report *r)
{
    printf("%s (%s), n = %lld\n", r->device, r->description, (long long)r->n);
    for (int i = 0; i < LIMIT_COUNT; i++)
        if (r->limits[i] > 0)
            printf("limit: %-40s %8.0f GB/s\n", limit_names[i], r->limits[i]);
    printf("%-32s %12s %10s %12s %8s\n", "case", "us", "GB/s", "limit us", "ratio");
}

/* Limit over time for bandwidth (1 is the best), time over limit for overheads. */
static double ratio(const result *row)
{
    return row->gbps > 0 ? row->limit_us / row->us : row->us / row->limit_us;
}

void report_add(report *r, result row)
{
    printf("%-32s %12.2f ", row.name, row.us);
    if (row.gbps > 0)
        printf("%10.0f ", row.gbps);
    else
        printf("%10s ", "-");
    if (row.limit_us > 0)
        printf("%12.2f %7.3f%s", row.limit_us, ratio(&row), row.gbps > 0 ? "" : "x");
    else
        printf("%12s %8s", "-", "-");
    if (row.temporary_most > 0)
        printf("  temporary %.1f MB of %.1f", row.temporary / 1e6, row.temporary_most / 1e6);
    printf("%s\n", row.wrong ? "  WRONG" : "");
    fflush(stdout);
    if (r->count < MAX_RESULTS)
        r->results[r->count++] = row;
    if (r->json)
        report_json(r);
}

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        if ((unsigned char)*text >= ' ')
            fputc(*text, file);
    }
    fputc('"', file);
}

static void write_result(FILE *file, const result *row)
{
    fputs("    {\"case\": ", file);
    write_text(file, row->name);
    fprintf(file, ", \"us\": %.4g", row->us);
    if (row->gbps > 0)
        fprintf(file, ", \"gbps\": %.5g", row->gbps);
    if (row->limit_us > 0)
        fprintf(file, ", \"limit_us\": %.4g, \"%s\": %.4g", row->limit_us,
                row->gbps > 0 ? "of_limit" : "times_limit", ratio(row));
    if (row->temporary_most > 0)
        fprintf(file, ", \"temporary_bytes\": %.0f, \"temporary_most\": %.0f", row->temporary,
                row->temporary_most);
    fprintf(file, ", \"checked\": %s}", row->wrong ? "false" : "true");
}

static void write_report(FILE *file, const report *r)
{
    fputs("{\n  \"device\": ", file);
    write_text(file, r->device);
    fputs(",\n  \"description\": ", file);
    write_text(file, r->description);
    fprintf(file, ",\n  \"n\": %lld,\n  \"limits_gbps\": {", (long long)r->n);
    for (int i = 0; i < LIMIT_COUNT; i++)
        fprintf(file, "%s\"%s\": %.5g", i ? ", " : "", limit_names[i], r->limits[i]);
    fputs("},\n  \"cases\": [\n", file);
    for (int i = 0; i < r->count; i++) {
        write_result(file, &r->results[i]);
        fputs(i + 1 < r->count ? ",\n" : "\n", file);
    }
    fputs("  ]\n}\n", file);
}

bool report_json(const report *r)
{
    char part[4096];
    const int length = snprintf(part, sizeof part, "%s.part", r->json);
    FILE *file = length < (int)sizeof part ? fopen(part, "w") : NULL;

    if (!file)
        return false;
    write_report(file, r);
    const bool written = !ferror(file);
    return fclose(file) == 0 && written && rename(part, r->json) == 0;
}

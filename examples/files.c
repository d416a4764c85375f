/* Files: an array goes to a .npy file and back, and a larger one is computed chunk by chunk. */
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

enum { ROWS = 2000, COLUMNS = 300 };

/* z = (x - mean of its column) / deviation, from file to file in chunks of 256 KiB. */
static void standardise(const char *from, const char *to)
{
    const ga_chunks chunks = {.bytes = 256 << 10};
    ga_source *x = ga_source_open(from);

    ga_eval_save(to, &chunks, "(x - mean(x, axis=0)) / std(x, axis=0)", GA(x));
    ga_source_free(x);
}

int main(void)
{
    char folder[] = "/tmp/quarry-files-XXXXXX", from[64], to[64];
    bool same = false;
    double mean = 1, deviation = 0;

    if (!mkdtemp(folder))
        return 1;
    snprintf(from, sizeof from, "%s/x.npy", folder);
    snprintf(to, sizeof to, "%s/z.npy", folder);
    GA_SCOPE {
        gpuarray *i =
            ga_reshape(ga_arange(GA_FLOAT64, 0, ROWS * COLUMNS, 1), GA_SHAPE(ROWS, COLUMNS));
        gpuarray *x = ga_eval("100 * sin(i) + i / 1000", GA(i));
        ga_save(x, from);
        gpuarray *back = ga_load(from);
        same = ga_item_bool(ga_eval("all(x == back)", GA(x), GA(back)));
        standardise(from, to);
        gpuarray *z = ga_load(to);
        mean = ga_item_double(ga_eval("max(abs(mean(z, axis=0)))", GA(z)));
        deviation = ga_item_double(ga_eval("max(abs(std(z, axis=0) - 1))", GA(z)));
    }
    remove(from);
    remove(to);
    remove(folder);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "files: %s\n", ga_error_message());
        return 1;
    }
    const bool right = same && mean < 1e-12 && deviation < 1e-12;
    printf("files: means within %.0e, deviations within %.0e%s\n", mean, deviation,
           right ? ": OK" : "");
    return !right;
}

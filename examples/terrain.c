/* Slope, aspect and hillshade of a real elevation model: terrain [ELEVATION.npy [DIRECTORY]]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#include "png_write.h"

#ifndef ELEVATION
#define ELEVATION "examples/data/elevation.npy"
#endif

#define DX 74.4           /* width of a cell in metres, west to east */
#define DY 92.7           /* height of a cell in metres, north to south */
#define SUN_AZIMUTH 315.0 /* degrees clockwise from north */
#define SUN_ALTITUDE 45.0 /* degrees above the horizon */

static const double radian = 3.14159265358979323846 / 180.0;

/* Minimum and maximum from one pass; the kernel's preamble defines the same struct. */
struct minmax {
    float low, high;
};

static ga_kernel *minmax_kernel(void)
{
    return ga_reduction_kernel(
        GA_NO_DTYPE, "minmax{3.4e38f, -3.4e38f}",
        "minmax{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high}",
        "minmax{x[i], x[i]}", "const float *x", "minmax",
        .preamble = "struct minmax { float low, high; };", .struct_name = "minmax",
        .struct_bytes = sizeof(struct minmax));
}

static void print_range(ga_kernel *minmax, const char *label, const gpuarray *x, const char *unit)
{
    struct minmax range = {0};
    gpuarray *bytes = ga_reduce(minmax, x);

    ga_to_host(bytes, &range, sizeof range);
    printf("%-10s min %20.4f %s\n", label, (double)range.low, unit);
    printf("%-10s max %20.4f %s\n", label, (double)range.high, unit);
    printf("%-10s mean %19.4f %s\n", label, ga_item_double(ga_mean(x)), unit);
}

/* The illumination of a surface that rises by gx to the east and gy to the north: the dot product
 * of its normal and the direction to the sun, or 0 in its own shadow (Horn 1981, "Hill shading and
 * the reflectance map"). */
static gpuarray *hillshade(const gpuarray *gx, const gpuarray *gy)
{
    ga_kernel *shading = ga_elementwise_kernel(
        "const float *gx, const float *gy, float east, float north, float up, float *shade",
        "float light = (up - east*gx[i] - north*gy[i]) / sqrtf(1 + gx[i]*gx[i] + gy[i]*gy[i]);"
        "shade[i] = light > 0 ? light : 0",
        "shading");
    gpuarray *shade = ga_empty_like(gx);

    ga_run(shading, gx, gy, sin(SUN_AZIMUTH * radian) * cos(SUN_ALTITUDE * radian),
           cos(SUN_AZIMUTH * radian) * cos(SUN_ALTITUDE * radian), sin(SUN_ALTITUDE * radian),
           shade);
    ga_kernel_free(shading);
    return shade;
}

static void print_rows(const gpuarray *z, const gpuarray *slope)
{
    gpuarray *heights = ga_mean(z, GA_AXIS(1));
    gpuarray *slopes = ga_mean(slope, GA_AXIS(1));
    gpuarray *spread = ga_std(z, GA_AXIS(1), .ddof = 1);

    printf("%-10s highest %16lld th\n", "row", (long long)ga_item_int64(ga_argmax(heights)));
    printf("%-10s its mean %15.4f m\n", "row", ga_item_double(ga_max(heights)));
    printf("%-10s steepest %15lld th\n", "row", (long long)ga_item_int64(ga_argmax(slopes)));
    printf("%-10s its slope %14.4f deg\n", "row", ga_item_double(ga_max(slopes)));
    printf("%-10s roughest %15lld th\n", "row", (long long)ga_item_int64(ga_argmax(spread)));
    printf("%-10s its deviation %10.4f m\n", "row", ga_item_double(ga_max(spread)));
}

static void print_aspects(const gpuarray *aspect, const gpuarray *slope)
{
    gpuarray *southern = ga_eval("sum(135 < aspect < 225 and slope > 0)", GA(aspect), GA(slope));

    printf("%-10s southern %15lld cells\n", "aspect", (long long)ga_item_int64(southern));
}

static void print_histogram(const gpuarray *slope)
{
    for (int low = 0; low < 40; low += 5) {
        gpuarray *in = ga_eval("sum(low <= slope < low + 5)", GA(low), GA(slope));
        printf("slope %3d to %-2d deg %14lld cells\n", low, low + 5, (long long)ga_item_int64(in));
    }
}

static void save(const gpuarray *shade, const char *directory)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/hillshade.npy", directory);
    ga_save(shade, path);
    snprintf(path, sizeof path, "%s/hillshade.png", directory);
    gpuarray *grey = ga_astype(ga_rint(ga_multiply(255, shade)), GA_UINT8);
    if (grey && !png_write(path, grey)) {
        fprintf(stderr, "terrain: cannot write %s\n", path);
        exit(1);
    }
}

static void terrain(const char *input, const char *directory)
{
    ga_kernel *minmax = minmax_kernel();
    gpuarray *z = ga_astype(ga_load(input), GA_FLOAT32);
    gpuarray *inside = ga_slice(z, "1:-1, 1:-1");

    /* Central differences; the first row is the northernmost. */
    gpuarray *gx =
        ga_multiply(0.5 / DX, ga_subtract(ga_slice(z, "1:-1, 2:"), ga_slice(z, "1:-1, :-2")));
    gpuarray *gy =
        ga_multiply(0.5 / DY, ga_subtract(ga_slice(z, ":-2, 1:-1"), ga_slice(z, "2:, 1:-1")));

    gpuarray *slope = ga_eval("rad2deg(arctan(hypot(gx, gy)))", GA(gx), GA(gy));
    /* The direction of descent, clockwise from north. */
    gpuarray *aspect = ga_eval("rad2deg(arctan2(-gx, -gy)) % 360", GA(gx), GA(gy));
    gpuarray *shade = hillshade(gx, gy);
    if (ga_error() == GA_OK)
        printf("%s: %lld x %lld cells, on %s (%s)\n", input, (long long)ga_shape(z)[0],
               (long long)ga_shape(z)[1], ga_device_of(z), ga_device_name(ga_device_of(z)));

    print_range(minmax, "elevation", inside, "m");
    print_range(minmax, "slope", slope, "deg");
    print_range(minmax, "hillshade", shade, "of 1");
    print_aspects(aspect, slope);
    print_rows(inside, slope);
    print_histogram(slope);
    save(shade, directory);
    ga_kernel_free(minmax);
}

int main(int argc, char **argv)
{
    GA_SCOPE {
        terrain(argc > 1 ? argv[1] : ELEVATION, argc > 2 ? argv[2] : ".");
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "terrain: %s\n", ga_error_message());
        return 1;
    }
    return 0;
}

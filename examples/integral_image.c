/* The sum of any rectangle of an image in four reads: sums along both axes (Crow 1984, "Summed-area
 * tables for texture mapping"), and a box blur made of them. */
#include <stdio.h>

#include <quarry.h>

#define HEIGHT 480
#define WIDTH 640
#define RADIUS 8

static gpuarray *image(void)
{
    ga_rng *rng = ga_rng_new(3);
    gpuarray *x = ga_rng_integers(rng, GA_UINT8, 0, 256, GA_SHAPE(HEIGHT, WIDTH));

    ga_rng_free(rng);
    return x;
}

/* Element (y, x) is the sum of the rows above y and the columns before x. */
static gpuarray *integral_of(const gpuarray *pixels)
{
    gpuarray *rows = ga_cumulative_sum(pixels, GA_AXIS(1), .include_initial = true);

    return ga_cumulative_sum(rows, GA_AXIS(0), .include_initial = true);
}

/* The mean of each square of 2 * RADIUS pixels, by four views of the integral. */
static gpuarray *box_blur(const gpuarray *integral)
{
    const int side = 2 * RADIUS;
    gpuarray *a = ga_slice(integral, ":-%d, :-%d", side, side),
             *b = ga_slice(integral, ":-%d, %d:", side, side),
             *c = ga_slice(integral, "%d:, :-%d", side, side),
             *d = ga_slice(integral, "%d:, %d:", side, side);

    return ga_eval("(d - b - c + a) / area", GA(a), GA(b), GA(c), GA(d),
                   GA_NAMED("area", side * side));
}

static double mean_at(const unsigned char *pixels, int top, int left)
{
    double sum = 0;

    for (int y = top; y < top + 2 * RADIUS; y++)
        for (int x = left; x < left + 2 * RADIUS; x++)
            sum += pixels[y * WIDTH + x];
    return sum / (4.0 * RADIUS * RADIUS);
}

int main(void)
{
    static unsigned char pixels[HEIGHT * WIDTH];
    int failed = 1;

    GA_SCOPE {
        gpuarray *x = image(), *blurred = box_blur(integral_of(x));
        const double corner = ga_item_double(ga_slice(blurred, "0, 0")),
                     middle = ga_item_double(ga_slice(blurred, "200, 300"));

        ga_to_host(x, pixels, sizeof pixels);
        printf("means of %d x %d pixels: %.4f in the corner, %.4f in the middle\n", 2 * RADIUS,
               2 * RADIUS, corner, middle);
        failed = corner != mean_at(pixels, 0, 0) || middle != mean_at(pixels, 200, 300);
    }
    if (ga_error() != GA_OK)
        fprintf(stderr, "%s\n", ga_error_message());
    return failed;
}

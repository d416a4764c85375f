/* Sobel's filter: the edges of a picture, as weighted differences of shifted views. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { N = 200 };

/* A bright disc of radius 60 on a dark ground. */
static gpuarray *make_picture(void)
{
    gpuarray *x = ga_arange(GA_FLOAT32, 0, N, 1);

    return ga_eval("r = sqrt((x - 100)**2 + (x[:, None] - 100)**2); float32(where(r < 60, 1, 0))",
                   GA(x));
}

/* The length of the gradient at each inner pixel. */
static gpuarray *find_edges(const gpuarray *p)
{
    return ga_eval("dx = p[:, 2:] - p[:, :-2];"
                   "dy = p[2:] - p[:-2];"
                   "across = dx[:-2] + 2 * dx[1:-1] + dx[2:];"
                   "down = dy[:, :-2] + 2 * dy[:, 1:-1] + dy[:, 2:];"
                   "hypot(across, down)",
                   GA(p));
}

int main(void)
{
    double strongest = 0, ground = 0, at_edge = 0;
    int64_t edge_pixels = 0;

    GA_SCOPE {
        gpuarray *picture = make_picture(), *edges = find_edges(picture);
        strongest = ga_item_double(ga_max(edges));
        edge_pixels = ga_item_int64(ga_eval("count_nonzero(edges > 2)", GA(edges)));
        ground = ga_item_double(edges, 5, 5) + ga_item_double(edges, N / 2, N / 2);
        at_edge = ga_item_double(edges, 99, 160 - 2); /* a vertical edge: 1 + 2 + 1 */
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "sobel: %s\n", ga_error_message());
        return 1;
    }

    /* NumPy finds as many. The steepest corner has the gradient (2, 4). */
    const bool right =
        ground == 0 && at_edge == 4 && fabs(strongest - sqrt(20.0)) < 1e-6 && edge_pixels == 676;
    printf("sobel: %lld pixels of edges, at most %.3f%s\n", (long long)edge_pixels, strongest,
           right ? ": OK" : "");
    return !right;
}

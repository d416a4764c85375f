/* A picture's edges: padded, filtered by Sobel's masks, thresholded, and the edge pixels listed. */
#include <stdio.h>

#include <quarry.h>

enum { N = 64 };

/* A bright square from row and column 16 to 47 on a dark ground. */
static gpuarray *make_picture(void)
{
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(N, N));
    ga_index_set(x, 200, GA_RANGE(16, 48, 1), GA_RANGE(16, 48, 1));
    return x;
}

/* Sums of pixels, each weighted by the mask's element above it. */
static gpuarray *filtered(const gpuarray *padded)
{
    return ga_eval("dx = p[:, 2:] - p[:, :-2]; dy = p[2:] - p[:-2];"
                   "abs(dx[:-2] + 2 * dx[1:-1] + dx[2:]) + abs(dy[:, :-2] + 2 * dy[:, 1:-1] + "
                   "dy[:, 2:])",
                   GA_NAMED("p", padded));
}

int main(void)
{
    bool right = false;
    gpuarray *at[2];
    GA_SCOPE {
        gpuarray *picture = make_picture();
        gpuarray *edges = filtered(ga_pad(picture, GA_SHAPE(1), .mode = "reflect"));
        gpuarray *mask = ga_greater(edges, 400);
        ga_nonzero(mask, at);
        gpuarray *strongest = ga_index(edges, mask);
        /* Each row's edge pixels, counted by their rows. */
        gpuarray *rows = ga_zeros(GA_INT64, GA_SHAPE(N));
        ga_index_add(rows, 1, at[0]);
        gpuarray *framed = ga_where(mask, 255, picture);
        /* NumPy's figures. */
        right = ga_size(strongest) == 252 && ga_item_int64(ga_sum(edges)) == 204800 &&
                ga_item_int64(ga_max(strongest)) == 1200 && ga_item_int64(rows, 16) == 34 &&
                ga_item_int64(ga_sum(framed)) == 244260;
        printf("%lld pixels of the edge, the strongest %lld, %lld of them in row 16; sums %lld and "
               "%lld: %s\n",
               (long long)ga_size(strongest), (long long)ga_item_int64(ga_max(strongest)),
               (long long)ga_item_int64(rows, 16), (long long)ga_item_int64(ga_sum(edges)),
               (long long)ga_item_int64(ga_sum(framed)), right ? "right" : "wrong");
    }
    return right && ga_error() == GA_OK ? 0 : 1;
}

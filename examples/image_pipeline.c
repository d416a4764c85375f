/* A picture's edges: padded, filtered by Sobel's masks, thresholded, and the edge pixels listed. */
#include <stdio.h>

#include <quarry.h>

enum { N = 64 };

/* NumPy's figures (numpy/image_pipeline.py). */
static const long long wanted[] = {252, 1200, 34, 204800, 244260};

int main(void)
{
    bool right = true;
    GA_SCOPE {
        /* A bright square on a dark ground. */
        gpuarray *picture = ga_zeros(GA_INT32, GA_SHAPE(N, N)), *at[2];
        ga_index_set(picture, 200, GA_RANGE(16, 48, 1), GA_RANGE(16, 48, 1));
        gpuarray *p = ga_pad(picture, GA_SHAPE(1), .mode = "reflect");
        /* Sums of pixels, each weighted by the mask's element above it. */
        gpuarray *edges = ga_eval("dx = p[:, 2:] - p[:, :-2]; dy = p[2:] - p[:-2];"
                                  "abs(dx[:-2] + 2 * dx[1:-1] + dx[2:])"
                                  " + abs(dy[:, :-2] + 2 * dy[:, 1:-1] + dy[:, 2:])",
                                  GA(p));
        gpuarray *mask = ga_greater(edges, 400), *strongest = ga_index(edges, mask);
        ga_nonzero(mask, at);
        /* Each row's edge pixels, counted by their rows. */
        gpuarray *rows = ga_zeros(GA_INT64, GA_SHAPE(N));
        ga_index_add(rows, 1, at[0]);
        gpuarray *framed = ga_where(mask, 255, picture);
        const long long found[] = {ga_size(strongest), ga_item_int64(ga_max(strongest)),
                                   ga_item_int64(rows, 16), ga_item_int64(ga_sum(edges)),
                                   ga_item_int64(ga_sum(framed))};
        printf("%lld pixels of the edge, the strongest %lld, %lld of them in row 16; "
               "sums %lld and %lld\n",
               found[0], found[1], found[2], found[3], found[4]);
        for (int k = 0; k < 5; k++)
            right = right && found[k] == wanted[k];
    }
    return right && ga_error() == GA_OK ? 0 : 1;
}

/* Processes a long series in pieces: one stream computes while the other copies the next piece. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { PIECE = 1 << 20, PIECES = 8 };

int main(void)
{
    const size_t nbytes = PIECE * sizeof(float);
    float *series = ga_pinned_alloc(PIECES * nbytes), *smooth = ga_pinned_alloc(PIECES * nbytes);
    ga_stream *streams[2] = {ga_stream_new(), ga_stream_new()};

    for (int64_t i = 0; series && i < (int64_t)PIECES * PIECE; i++)
        series[i] = (float)(i % 360);
    for (int piece = 0; series && smooth && piece < PIECES; piece++)
        GA_SCOPE {
            const int64_t at = (int64_t)piece * PIECE;
            ga_set_stream(streams[piece % 2]); /* the calls below queue their work there */
            gpuarray *x = ga_from_host_async(series + at, GA_FLOAT32, GA_SHAPE(PIECE));
            gpuarray *y = ga_eval("sin(x * pi / 180)**2", GA(x));
            ga_to_host_async(y, smooth + at, nbytes);
        }
    ga_set_stream(NULL);
    ga_synchronize();

    double worst = ga_error() == GA_OK ? 0.0 : 1.0;
    for (int64_t i = 0; worst < 1.0 && i < (int64_t)PIECES * PIECE; i += 997) {
        const double expected = pow(sin((double)(i % 360) * M_PI / 180), 2);
        worst = fmax(worst, fabs((double)smooth[i] - expected));
    }
    ga_stream_free(streams[0]);
    ga_stream_free(streams[1]);
    ga_pinned_free(series);
    ga_pinned_free(smooth);
    if (ga_error() != GA_OK)
        fprintf(stderr, "overlap: %s\n", ga_error_message());
    printf("overlap: largest error %.2g%s\n", worst, worst < 1e-5 ? ": OK" : "");
    return !(worst < 1e-5);
}

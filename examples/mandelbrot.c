/* Draws the Mandelbrot set as a PNG, and checks its area: mandelbrot [FILE.png]. */
#include <math.h>
#include <stdio.h>

#include "png_write.h"

enum { SIDE = 480, BLOCK = 16 };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "mandelbrot.png";
    double area = 0.0;
    bool written = false;
    ga_module *m = ga_module_compile(
        "__global__ void mandelbrot(unsigned char *shade, float left, float top, float step) {\n"
        "    int column = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    float cx = left + step * column, cy = top - step * row, x = 0, y = 0;\n"
        "    int n = 0;\n"
        "    for (; n < 255 && x * x + y * y < 4; n++) {\n"
        "        float t = x * x - y * y + cx;\n"
        "        y = 2 * x * y + cy;\n"
        "        x = t;\n"
        "    }\n"
        "    shade[row * gridDim.x * blockDim.x + column] = n;\n"
        "}\n");

    GA_SCOPE {
        gpuarray *shade = ga_empty(GA_UINT8, GA_SHAPE(SIDE, SIDE));
        ga_launch(ga_module_kernel(m, "mandelbrot"), GA_DIM(SIDE / BLOCK, SIDE / BLOCK),
                  GA_DIM(BLOCK, BLOCK), shade, -2.0f, 1.25f, 2.5f / SIDE);
        gpuarray *inside = ga_equal(shade, 255);
        area = 2.5 * 2.5 * ga_item_double(ga_mean(inside));
        written = png_write(path, ga_subtract(255, shade));
    }
    ga_module_free(m);
    if (ga_error() != GA_OK || !written) {
        fprintf(stderr, "mandelbrot: %s\n", written ? ga_error_message() : path);
        return 1;
    }

    /* Foerstemann's pixel count (2012) gives 1.5066; 255 steps leave a rim of 0.02 around it. */
    const int right = fabs(area - 1.5066) < 0.04;
    printf("mandelbrot: %s, area %.3f%s\n", path, area, right ? ": OK" : "");
    return !right;
}

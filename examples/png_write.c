/* Writes a 2-D uint8 array as a grey PNG, through libpng's simplified interface. */
#include "png_write.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

bool png_write(const char *path, const gpuarray *grey)
{
    png_image image;
    bool written = false;
    void *pixels;

    if (ga_ndim(grey) != 2 || ga_dtype_of(grey) != GA_UINT8 || ga_size(grey) == 0)
        return false;
    pixels = malloc(ga_nbytes(grey));
    if (pixels && ga_to_host(grey, pixels, ga_nbytes(grey)) == GA_OK) {
        memset(&image, 0, sizeof image);
        image.version = PNG_IMAGE_VERSION;
        image.height = (png_uint_32)ga_shape(grey)[0];
        image.width = (png_uint_32)ga_shape(grey)[1];
        image.format = PNG_FORMAT_GRAY;
        written = png_image_write_to_file(&image, path, 0, pixels, 0, NULL) != 0;
    }
    free(pixels);
    return written;
}

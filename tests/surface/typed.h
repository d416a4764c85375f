/* Results of a given dtype, and in an array of the program's. */
#ifndef SURFACE_TYPED_H
#define SURFACE_TYPED_H

/* A file of text in the folder of the results. */
static void as_text(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/table.txt", folder);
    AFTER("m.astype(float)", ga_savetxt(m, path), ga_loadtxt(path));
#if OPTIONS
    AFTER("m[1:, [0, 2]].astype(np.int16)",
          ga_savetxt(m, path, .fmt = "%d", .delimiter = ",", .header = "a,b"),
          ga_loadtxt(path, .dtype = GA_INT16, .delimiter = ",", .skiprows = 2, GA_USECOLS(0, 2)));
#endif
    remove(path);
}

static void typed(void)
{
#if OPTIONS
    gpuarray *lists[4];
    gpuarray *out = ga_zeros(GA_FLOAT64, GA_SHAPE(3, 4)), *four = ga_zeros(GA_FLOAT64, GA_SHAPE(4)),
             *seven = ga_zeros(GA_FLOAT64, GA_SHAPE(7)), *none = ga_zeros(GA_FLOAT64, GA_SHAPE0);
    SHOW("np.zeros_like(x, dtype=np.int8)", ga_zeros_like(x, .dtype = GA_INT8));
    SHOW("np.ones_like(x, dtype=np.complex64)", ga_ones_like(x, .dtype = GA_COMPLEX64));
    SHOW("np.full_like(x, -3, dtype=np.int16)", ga_full_like(x, -3, .dtype = GA_INT16));
    SHOW("np.full_like(m, row[0], dtype=np.float32)",
         ga_full_like(m, ga_slice(row, "0"), .dtype = GA_FLOAT32));
    NUMBER("12 * 2", ga_nbytes(ga_empty_like(x, .dtype = GA_FLOAT16)));
    SHOW("np.concatenate([x, k], axis=1, dtype=np.complex64)",
         ga_concatenate(GA_ARRAYS(x, k), GA_AXIS(1), .dtype = GA_COMPLEX64));
    SHOW("np.concatenate([x, k], axis=None, dtype=np.float32)",
         ga_concatenate(GA_ARRAYS(x, k), GA_AXIS(), .dtype = GA_FLOAT32));
    SHOW("np.stack([x, y], dtype=np.float16)", ga_stack(GA_ARRAYS(x, y), .dtype = GA_FLOAT16));
    SHOW("np.trace(m, 1, 1, 0, dtype=np.float64)", ga_trace(m, 1, 1, 0, .dtype = GA_FLOAT64));
    SHOW("np.trace(x) + 0", ga_trace(x, 0, 0, 1, .out = none));
    SHOW("np.trace(z, -1, 1, 2, out=np.zeros(2, np.float32))",
         ga_trace(z, -1, 1, 2, .out = ga_zeros(GA_FLOAT32, GA_SHAPE(2))));
    SHOW("np.choose(k - 3, [x, y], mode='wrap')",
         ga_choose(ga_subtract(k, 3), GA_ARRAYS(x, y), .mode = GA_WRAP));
    SHOW("np.choose(k - 3, [x, row], mode='clip')",
         ga_choose(ga_subtract(k, 3), GA_ARRAYS(x, row), .mode = GA_CLIP, .out = out));
    SHOW("np.choose(k - 3, [x, row], mode='clip')", out);
    SHOW("np.compress(row > -1, row)", ga_compress(ga_greater(row, -1), row, .out = four));
    SHOW("x[x > -0.5]", ga_compress(ga_ravel(ga_greater(x, -0.5)), x, .out = seven));
    SHOW("x[x > -0.5]", seven);
    SHOW("np.packbits(x > 0, axis=1)", ga_packbits(ga_greater(x, 0), GA_AXIS(1)));
    SHOW("np.packbits(m, bitorder='little')", ga_packbits(m, .bitorder = "little"));
    SHOW("np.unpackbits(k.astype(np.uint8), axis=0, count=11)",
         ga_unpackbits(ga_astype(k, GA_UINT8), GA_AXIS(0), .count = 11));
    AFTER("np.unravel_index(k, (3, 4), 'F')[1]",
          ga_unravel_index(k, GA_SHAPE(3, 4), lists, .order = 'F'), lists[1]);
    NUMBER("len(np.histogram(y, 'fd')[0])", ga_histogram_bins(y, .rule = "fd"));
    SHOW("np.lib.stride_tricks.sliding_window_view(z, 2, axis=1)",
         ga_sliding_window_view(z, GA_SHAPE(2), GA_AXIS(1)));
    SHOW("np.quantile(x, 0.4, axis=1, weights=s[1:5], method='inverted_cdf')",
         ga_quantile(x, 0.4, GA_AXIS(1), .method = "inverted_cdf", .weights = ga_slice(s, "1:5")));
#endif
}

#endif

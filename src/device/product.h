/* Products of matrices as libraries take them. */
#ifndef GA_DEVICE_PRODUCT_H
#define GA_DEVICE_PRODUCT_H

#include <quarry/dtype.h>

#include <stdbool.h>
#include <stdint.h>

/* A stack of matrices. Elements of a row follow each other; of a transposed one, those of a column.
 * Steps are in elements. */
typedef struct ga__matrix {
    void *memory;
    int64_t pitch; /* from a row to the next one; transposed: from a column */
    int64_t stack; /* from a matrix to the next one, 0 or more */
    bool transposed;
} ga__matrix;

/* A number that multiplies a product or what it is added to; real but for complex dtypes. */
typedef struct ga__factor {
    double re, im;
} ga__factor;

static inline bool ga__factor_is(ga__factor f, double number)
{
    return f.re == number && f.im == 0;
}

/* c = alpha * a @ b + beta * c at each place of the stack: (m, k) @ (k, n). With a bias, n elements
 * of c's dtype are added to each row; with relu, what is less than 0 becomes 0. */
typedef struct ga__matrix_product {
    ga__matrix a, b, c; /* c is not transposed */
    int64_t m, n, k, places;
    ga_dtype type;   /* of a and b */
    ga_dtype c_type; /* of c; sums are at least in float32 */
    ga__factor alpha, beta;
    bool tf32;
    const void *bias; /* NULL: none */
    bool relu;
} ga__matrix_product;

#endif

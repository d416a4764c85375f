/* Products by cuBLASLt, which is loaded at first use; functions as in ga__product_verbs. */
#ifndef GA_DEVICE_CUDA_CUBLASLT_H
#define GA_DEVICE_CUDA_CUBLASLT_H

#include "device/backend.h"

ga_status ga__cublaslt_found(char *text, size_t size);
bool ga__cublaslt_takes(const ga__matrix_product *product);

/* In the order of the stream, whose device is the thread's current one. */
ga_status ga__cublaslt_multiply(ga__stream *stream, const ga__matrix_product *product);

/* Frees what the device's products share. */
void ga__cublaslt_close(const ga__device *device);

#endif

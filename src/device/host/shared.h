/* Declarations that the files of the host backend share: entries of its tables, and two helpers. */
#ifndef GA_DEVICE_HOST_SHARED_H
#define GA_DEVICE_HOST_SHARED_H

#include "device/backend.h"

/* memory.c */
void ga__host_memory_open(ga__device *device);
ga_status ga__host_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory);
void ga__host_trim(ga__stream *stream);
void ga__host_free(ga__stream *stream, const ga__memory *memory);
void ga__host_memory_state(ga__device *device, ga__memory_state *state);
bool ga__host_reaches(ga__device *device, const void *memory);
ga_status ga__host_pin(ga__device *device, size_t nbytes, void **memory);
void ga__host_unpin(ga__device *device, void *memory);
ga_status ga__host_pin_existing(ga__device *device, void *memory, size_t nbytes);
ga_status ga__host_unpin_existing(ga__device *device, void *memory);

/* Copies the bytes now; zeroes them if `from` is NULL. */
void ga__host_move(void *to, const void *from, size_t nbytes);

/* load.c */
ga_status ga__host_compile(ga__device *device, const ga__source *source, void **code,
                           size_t *nbytes);
void ga__host_compiler_key(ga__device *device, bool fast_math, ga__strbuf *key);
ga_status ga__host_load(ga__device *device, const void *code, size_t nbytes, ga__image **image);
void ga__host_unload(ga__image *image);
ga_status ga__host_find(ga__image *image, const char *name, ga__function **function);
int ga__host_resident_blocks(ga__device *device, ga__function *function, int threads);
ga_status ga__host_global(ga__device *device, ga__image *image, const char *symbol, void **memory,
                          size_t *nbytes);

/* Runs all blocks of a template's kernel now: in a thread of its own if this one's stack is too
 * small. GA_ERR_MEMORY without such a thread. */
ga_status ga__host_run(ga__function *function, const ga__launch *launch);

/* replay.c: work that runs now, or is recorded in a recording stream. */
ga_status ga__host_copy_async(ga__stream *stream, void *to, const void *from, size_t nbytes,
                              ga__copy_kind kind);
ga_status ga__host_zero(ga__stream *stream, void *memory, size_t nbytes);
ga_status ga__host_launch(ga__stream *stream, ga__function *function, const ga__launch *launch);
ga_status ga__host_launch_grid(ga__stream *stream, ga__function *function,
                               const ga__grid_launch *launch);
/* Calls function(what), whose bytes are copied. */
ga_status ga__host_call(ga__stream *stream, void (*function)(const void *), const void *what,
                        size_t nbytes);
ga_status ga__host_record_begin(ga__stream *stream);
ga_status ga__host_record_end(ga__stream *stream, ga__replay **replay);
void ga__host_replay_free(ga__replay *replay);
void ga__host_record_cancel(ga__stream *stream);
ga_status ga__host_replay(ga__replay *replay, ga__stream *stream);

/* blas.c: as ga__product_verbs. */
ga_status ga__host_blas_found(char *text, size_t size);
bool ga__host_blas_takes(const ga__matrix_product *product);
ga_status ga__host_blas_multiply(ga__stream *stream, const ga__matrix_product *product);

/* stream.c: work is done when its call returns. */
ga_status ga__host_synchronize(ga__device *device);
ga_status ga__host_stream_open(ga__stream *stream);
void ga__host_stream_close(ga__stream *stream);
ga_status ga__host_stream_wait(ga__stream *stream, ga__stream *other);
ga_status ga__host_stream_synchronize(ga__stream *stream);
ga_status ga__host_stream_query(ga__stream *stream, bool *done);
ga_status ga__host_event_new(ga__device *device, ga__event **event);
void ga__host_event_free(ga__device *device, ga__event *event);
ga_status ga__host_event_record(ga__event *event, ga__stream *stream);
ga_status ga__host_event_wait(ga__event *event, ga__stream *stream);
ga_status ga__host_event_synchronize(ga__device *device, ga__event *event);
ga_status ga__host_event_query(ga__device *device, ga__event *event, bool *done);
ga_status ga__host_event_elapsed(ga__device *device, ga__event *from, ga__event *to, double *ms);

#endif

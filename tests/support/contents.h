/* Random elements with the properties that selection and sorting depend on. */
#ifndef GA_TESTS_CONTENTS_H
#define GA_TESTS_CONTENTS_H

#include <quarry.h>

typedef enum content {
    CONTENT_WIDE, /* few of them are equal */
    CONTENT_FEW,  /* five different numbers */
    CONTENT_EQUAL,
    CONTENT_ASCENDING,
    CONTENT_DESCENDING,
    CONTENT_SPECIAL, /* floats: NaN, infinities and both zeros too */
    CONTENT_OUTLIER, /* one is far from all others, which are close together */
    CONTENTS
} content;

extern const char *const content_names[CONTENTS];

/* Writes n elements of the dtype, converted as ga_astype() does. */
void fill_content(content what, ga_dtype dtype, int64_t n, void *elements, uint64_t *seed);

#endif

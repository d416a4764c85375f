/* Quarry: NumPy-like GPU arrays for C. The one header a program includes. */
#ifndef QUARRY_H
#define QUARRY_H

#include <quarry/version.h>
#include <quarry/error.h>
#include <quarry/dtype.h>
#include <quarry/value.h>
#include <quarry/device.h>
#include <quarry/stream.h>
#include <quarry/memory.h>
#include <quarry/graph.h>
#include <quarry/array.h>
#include <quarry/ops.h>
#include <quarry/functions.h>
#include <quarry/select.h>
#include <quarry/rank.h>
#include <quarry/sort.h>
#include <quarry/kernel.h>
#include <quarry/module.h>
#include <quarry/source.h>
#include <quarry/eval.h>
#include <quarry/random.h>
#include <quarry/histogram.h>
#include <quarry/sets.h>
#include <quarry/joining.h>
#include <quarry/products.h>
#include <quarry/indexing.h>
#include <quarry/einsum.h>
#include <quarry/shaping.h>
#include <quarry/series.h>
#include <quarry/text.h>
#include <quarry/struct.h>
#include <quarry/info.h>

/* GA_CALL_SITES: 1 if the program's calls note their file and line for ga_error_file(), the error
 * handler and the log; the functions are then macros too. The default is 1 unless NDEBUG is
 * defined. It costs about a nanosecond per call. */
#ifndef GA_CALL_SITES
#ifdef NDEBUG
#define GA_CALL_SITES 0
#else
#define GA_CALL_SITES 1
#endif
#endif
#if GA_CALL_SITES && (defined(__GNUC__) || defined(__clang__))
#include <quarry/sites.h>
#endif

#endif

/* Quarry: NumPy-like GPU arrays for C. The one header a program includes. */
#ifndef QUARRY_H
#define QUARRY_H

#include <quarry/error.h>
#include <quarry/dtype.h>
#include <quarry/value.h>
#include <quarry/device.h>
#include <quarry/stream.h>
#include <quarry/memory.h>
#include <quarry/graph.h>
#include <quarry/array.h>
#include <quarry/ops.h>
#include <quarry/kernel.h>
#include <quarry/module.h>
#include <quarry/source.h>
#include <quarry/eval.h>
#include <quarry/random.h>
#include <quarry/info.h>

#endif

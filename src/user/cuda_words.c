/* Whether a text uses CUDA's vocabulary, which takes the host's compiler long to read. */
#include "user/cuda_words.h"

#include <stddef.h>
#include <string.h>

#include "base/word.h"

/* Beginnings of words; qualifiers that user.tmpl has for all kernels come first. */
static const char *const plain[] = {"__device__",   "__host__",  "__forceinline__", "__noinline__",
                                    "__constant__", "__align__", "__restrict__",    "__builtin_"};
static const char *const beginnings[] = {"__", "atomic", "make_"};

/* Whole words; those of functions may also end in f. Rare functions of C are in the same files. */
static const char *const words[] = {
    "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",    "rcbrt",      "sinpi",
    "cospi",     "sincospi", "erfcx",    "erfinv",  "erfcinv",  "normcdf", "normcdfinv", "rhypot",
    "norm3d",    "rnorm3d",  "norm4d",   "rnorm4d", "norm",     "rnorm",   "fdividef",   "fdivide",
    "umin",      "umax",     "llmin",    "llmax",   "ullmin",   "ullmax",  "clock",      "clock64",
    "exp10",     "logb",     "j0",       "j1",      "y0",       "y1",      "ldexp",      "frexp",
    "modf",      "ilogb",    "lrint",    "lround",  "llrint",   "llround", "labs",       "llabs"};

/* Types whose vectors have these names with 1 to 4 after them. */
static const char *const elements[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                       "long", "ulong", "longlong", "ulonglong", "float", "double"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool begins(const char *word, size_t length, const char *with)
{
    return length >= strlen(with) && memcmp(word, with, strlen(with)) == 0;
}

static bool is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(word, text, length) == 0;
}

static bool is_listed(const char *word, size_t length)
{
    const bool ends_in_f = length > 1 && word[length - 1] == 'f';
    for (size_t k = 0; k < COUNT(words); k++)
        if (is(word, length, words[k]) || (ends_in_f && is(word, length - 1, words[k])))
            return true;
    if (length < 2 || word[length - 1] < '1' || word[length - 1] > '4')
        return false;
    for (size_t k = 0; k < COUNT(elements); k++)
        if (is(word, length - 1, elements[k]))
            return true;
    return false;
}

static bool is_cuda_word(const char *word, size_t length)
{
    for (size_t k = 0; k < COUNT(plain); k++)
        if (begins(word, length, plain[k]))
            return false;
    for (size_t k = 0; k < COUNT(beginnings); k++)
        if (begins(word, length, beginnings[k]))
            return true;
    return is_listed(word, length);
}

bool ga__uses_cuda_words(const char *text)
{
    for (const char *at = text ? text : ""; *at;) {
        size_t length = 0;
        while (ga__in_word(at[length]))
            length++;
        if (length > 0 && is_cuda_word(at, length))
            return true;
        at += length > 0 ? length : 1;
    }
    return false;
}

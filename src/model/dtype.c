/* The table of dtypes, and C numbers to and from the bytes of their elements. */
#include "model/dtype.h"

#include <math.h>
#include <string.h>

const ga__dtype_row ga__dtype_rows[GA_DTYPE_COUNT] = {
    {.name = "no dtype",
     .kind = '-',
     .memory_type = "",
     .npy = "",
     .c_names = "",
     .definition = ""},
#define GA_DTYPE(ID, NAME, KIND, BYTES, MEMORY, COMPUTE, REAL, FLOATING, DIGITS, NPY, C_NAMES,     \
                 ...)                                                                              \
    {.name = NAME,                                                                                 \
     .kind = KIND,                                                                                 \
     .nbytes = BYTES,                                                                              \
     .memory_type = MEMORY,                                                                        \
     .compute = GA_##COMPUTE,                                                                      \
     .real = GA_##REAL,                                                                            \
     .floating = GA_##FLOATING,                                                                    \
     .digits = GA_##DIGITS,                                                                        \
     .npy = NPY,                                                                                   \
     .c_names = C_NAMES,                                                                           \
     .format = {__VA_ARGS__}},
#include <quarry/dtype.def>
#undef GA_DTYPE
};

const char *ga_dtype_name(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->name;
}

size_t ga_dtype_size(ga_dtype dtype)
{
    return ga__dtype_size(dtype);
}

const char *ga__dtype_memory_type(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->memory_type;
}

const char *ga__dtype_compute_type(ga_dtype dtype)
{
    return ga__dtype_memory_type(ga__dtype_compute(dtype));
}

const char *ga__dtype_moved_type(ga_dtype dtype)
{
    return ga__dtype_compute_type(ga__dtype_moved(dtype));
}

ga_dtype ga__dtype_integer(char kind, size_t nbytes)
{
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++) {
        if (ga__dtype_rows[d].kind == kind && ga__dtype_rows[d].nbytes == nbytes)
            return (ga_dtype)d;
    }
    return GA_NO_DTYPE;
}

ga_dtype ga__dtype_complex(ga_dtype real)
{
    return ga__dtype_compute(real) == GA_FLOAT32 ? GA_COMPLEX64 : GA_COMPLEX128;
}

/* ---- Names ---- */

const char *ga__dtype_npy(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->npy;
}

ga_dtype ga__dtype_from_npy(const char *descr, bool *swapped)
{
    const char other = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';

    if (!descr[0] || !strchr("<>=|", descr[0])) { /* NumPy has no descr for some: writers differ */
        *swapped = false;
        return ga__dtype_named(descr, strlen(descr));
    }
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++) {
        if (strcmp(ga__dtype_rows[d].npy + 1, descr + 1) == 0) {
            *swapped = descr[0] == other && ga__dtype_rows[d].nbytes > 1;
            return (ga_dtype)d;
        }
    }
    return GA_NO_DTYPE;
}

/* "unsigned long int" and its like, in any order of the words. */
static ga_dtype from_integer_words(const char *type)
{
    static const char *const words[] = {"char", "short", "int", "long", "signed", "unsigned"};
    enum { CHAR, SHORT, INT, LONG, SIGNED, UNSIGNED, NWORDS };
    int seen[NWORDS] = {0};

    while (*type) {
        const size_t length = strcspn(type, " ");
        int w = 0;
        while (w < NWORDS && (strlen(words[w]) != length || strncmp(words[w], type, length) != 0))
            w++;
        if (w == NWORDS)
            return GA_NO_DTYPE;
        seen[w]++;
        type += length;
        type += strspn(type, " ");
    }
    const int sizes = seen[CHAR] + seen[SHORT] + (seen[LONG] > 0);
    if (sizes > 1 || seen[LONG] > 2 || seen[INT] > 1 || (seen[CHAR] && seen[INT]) ||
        seen[SIGNED] + seen[UNSIGNED] > 1)
        return GA_NO_DTYPE;
    const size_t nbytes = seen[CHAR]        ? sizeof(char)
                          : seen[SHORT]     ? sizeof(short)
                          : seen[LONG] == 1 ? sizeof(long)
                          : seen[LONG] == 2 ? sizeof(long long)
                                            : sizeof(int);
    return ga__dtype_integer(seen[UNSIGNED] ? 'u' : 'i', nbytes);
}

/* Without blanks and namespaces: "std::complex< float >" as "complex<float>". */
static void plain_name(const char *type, char *plain, size_t room)
{
    size_t length = 0;

    for (; *type && length + 1 < room; type++) {
        if (*type == ' ')
            continue;
        if (type[0] == ':' && type[1] == ':') {
            length = 0;
            type++;
            continue;
        }
        plain[length++] = *type;
    }
    plain[length] = '\0';
}

/* Whether the name is one of the words. */
static bool is_among(const char *words, const char *name)
{
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (strlen(name) == length && memcmp(words, name, length) == 0)
            return true;
        words += length;
        words += strspn(words, " ");
    }
    return false;
}

static ga_dtype from_other_name(const char *type)
{
    char plain[64];

    plain_name(type, plain, sizeof plain);
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++) {
        if (strcmp(ga__dtype_rows[d].name, plain) == 0 ||
            is_among(ga__dtype_rows[d].c_names, plain))
            return (ga_dtype)d;
    }
    return GA_NO_DTYPE;
}

ga_dtype ga__dtype_number_from_c(const char *type)
{
    type += strspn(type, " ");
    if (!*type)
        return GA_NO_DTYPE;
    const ga_dtype dtype = from_integer_words(type);
    return dtype != GA_NO_DTYPE ? dtype : from_other_name(type);
}

ga_dtype ga__dtype_from_c(const char *type)
{
    const ga_dtype number = ga__dtype_number_from_c(type);
    return number != GA_NO_DTYPE ? number : ga__struct_from_c(type + strspn(type, " "));
}

/* ---- Numbers ---- */

static bool is_integer(ga_value number)
{
    const char kind = ga__dtype_kind(number.dtype);

    return kind == 'b' || kind == 'i' || kind == 'u';
}

/* An integer as a double that rounds to any narrower float as the integer itself does: bits past
 * the 53rd only mark that there are some, so that rounding twice is rounding once. */
static double sticky_double(ga_value number)
{
    const bool negative = ga__dtype_kind(number.dtype) != 'u' && number.as.i < 0;
    uint64_t size = negative ? 0 - number.as.u : number.as.u;

    if (size >> 53)
        size = (size >> 11 | ((size & 2047) != 0)) << 11;
    return negative ? -(double)size : (double)size;
}

double ga__number_double(ga_value number)
{
    if (!is_integer(number))
        return number.as.z[0];
    return ga__dtype_kind(number.dtype) == 'u' ? (double)number.as.u : (double)number.as.i;
}

/* Truncated, the nearest end when out of range, 0 for NaN: an integer's bits, its sign extended. */
static uint64_t saturated(double value, char kind, size_t nbytes)
{
    const int nbits = 8 * (int)nbytes - (kind == 'i');
    const uint64_t high = UINT64_MAX >> (64 - nbits);

    if (isnan(value))
        return 0;
    if (value >= ldexp(1.0, nbits))
        return high;
    if (kind == 'u')
        return value <= 0 ? 0 : (uint64_t)value;
    return value <= -ldexp(1.0, nbits) ? ~high : (uint64_t)(int64_t)value;
}

int64_t ga__number_int64(ga_value number)
{
    return is_integer(number) ? number.as.i : (int64_t)saturated(number.as.z[0], 'i', 8);
}

bool ga__number_bool(ga_value number)
{
    if (is_integer(number))
        return number.as.u != 0;
    return number.as.z[0] != 0 || (ga__dtype_kind(number.dtype) == 'c' && number.as.z[1] != 0);
}

static void store_bits(size_t nbytes, uint64_t bits, void *element)
{
    const uint8_t b8 = (uint8_t)bits;
    const uint16_t b16 = (uint16_t)bits;
    const uint32_t b32 = (uint32_t)bits;
    const void *from = nbytes == 1   ? (const void *)&b8
                       : nbytes == 2 ? (const void *)&b16
                       : nbytes == 4 ? (const void *)&b32
                                     : (const void *)&bits;

    memcpy(element, from, nbytes);
}

static uint64_t fetch_bits(size_t nbytes, const void *element)
{
    uint8_t b8 = 0;
    uint16_t b16 = 0;
    uint32_t b32 = 0;
    uint64_t b64 = 0;

    memcpy(nbytes == 1   ? (void *)&b8
           : nbytes == 2 ? (void *)&b16
           : nbytes == 4 ? (void *)&b32
                         : (void *)&b64,
           element, nbytes);
    return b8 | b16 | b32 | b64;
}

/* A double as the bits of a float that is only stored, rounded once, to nearest even. */
static uint16_t narrowed(double value, const ga__dtype_row *r)
{
    const int nfraction = r->format.fraction_bits, bias = r->format.bias;
    const uint64_t top = r->format.top;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    const uint64_t sign = bits >> 63 << (8 * r->nbytes - 1);
    const uint64_t fraction = bits & (UINT64_MAX >> 12);
    const int exponent = (int)(bits >> 52 & 2047) - 1023;

    if (isnan(value))
        return (uint16_t)(sign | top | UINT64_C(1) << (nfraction - 1));
    if (exponent > bias + 1)
        return (uint16_t)(sign | top);
    const int below = exponent < 1 - bias ? 1 - bias - exponent : 0; /* a subnormal's lost bits */
    const int shift = 52 - nfraction + below;
    if (shift > 53)
        return (uint16_t)sign;
    const uint64_t significand = fraction | UINT64_C(1) << 52;
    const uint64_t half = UINT64_C(1) << (shift - 1), rest = significand & (2 * half - 1);
    uint64_t kept = significand >> shift;
    kept += rest > half || (rest == half && (kept & 1));
    /* The leading bit adds 1 to the exponent, and so does a carry out of the fraction. */
    const uint64_t field = below ? 0 : (uint64_t)(exponent + bias - 1);
    const uint64_t code = (field << nfraction) + kept;
    return (uint16_t)(sign | (code < top ? code : top));
}

static double widened(uint16_t bits, const ga__dtype_row *r)
{
    const int nfraction = r->format.fraction_bits, nbits = 8 * r->nbytes - 1;
    const int code = bits & ((1 << nbits) - 1), field = code >> nfraction;
    const int fraction = code & ((1 << nfraction) - 1);
    const double sign = bits >> nbits ? -1 : 1;

    if (code >= r->format.top)
        return copysign(fraction ? (double)NAN : (double)INFINITY, sign);
    const int significand = field > 0 ? (1 << nfraction) + fraction : fraction;
    return sign * ldexp(significand, (field > 0 ? field : 1) - r->format.bias - nfraction);
}

static void store_real(ga_dtype dtype, double value, void *element)
{
    const ga__dtype_row *r = ga__dtype_row_of(dtype);
    const float narrow = (float)value;

    if (ga__dtype_is_stored(dtype))
        store_bits(r->nbytes, narrowed(value, r), element);
    else if (r->nbytes == sizeof narrow)
        memcpy(element, &narrow, sizeof narrow);
    else
        memcpy(element, &value, sizeof value);
}

static double fetch_real(ga_dtype dtype, const void *element)
{
    const ga__dtype_row *r = &ga__dtype_rows[dtype];
    double value = 0;
    float narrow = 0;

    if (r->compute != dtype)
        return widened((uint16_t)fetch_bits(r->nbytes, element), r);
    if (r->nbytes == sizeof value) {
        memcpy(&value, element, sizeof value);
        return value;
    }
    memcpy(&narrow, element, sizeof narrow);
    return (double)narrow;
}

void ga__dtype_store(ga_dtype dtype, ga_value number, void *element)
{
    const ga__dtype_row *r = ga__dtype_row_of(dtype);
    const bool integer = is_integer(number);

    if (r->kind == 'b') {
        store_bits(1, ga__number_bool(number), element);
    } else if (r->kind == 'i' || r->kind == 'u') {
        store_bits(r->nbytes, integer ? number.as.u : saturated(number.as.z[0], r->kind, r->nbytes),
                   element);
    } else {
        const bool narrower = ga__dtype_size(r->real) < sizeof(double);
        const double re = integer && narrower ? sticky_double(number) : ga__number_double(number);
        store_real(r->real, re, element);
        if (r->kind == 'c')
            store_real(r->real, ga__dtype_kind(number.dtype) == 'c' ? number.as.z[1] : 0.0,
                       (char *)element + r->nbytes / 2);
    }
}

ga_value ga__dtype_fetch(ga_dtype dtype, const void *element)
{
    const ga__dtype_row *r = ga__dtype_row_of(dtype);

    if (r->kind == 'V')
        return (ga_value){.kind = GA_VALUE_STRUCT,
                          .dtype = dtype,
                          .as.host = {.memory.from = element, .nbytes = r->nbytes}};
    if (r->kind == 'b' || r->kind == 'u')
        return ga_value_unsigned(dtype, fetch_bits(r->nbytes, element));
    if (r->kind == 'i') {
        const int spare = 64 - 8 * r->nbytes;
        const uint64_t bits = fetch_bits(r->nbytes, element) << spare;
        return ga_value_signed(dtype, (int64_t)bits >> spare);
    }
    const double im =
        r->kind == 'c' ? fetch_real(r->real, (const char *)element + r->nbytes / 2) : 0.0;
    return ga_value_floating(dtype, fetch_real(r->real, element), im);
}

/* One loop for each size: compilers turn each into byte shuffles of whole vectors. */
static void swap_words(unsigned char *p, size_t nbytes, size_t count)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    for (; nbytes == 2 && count > 0; count--, p += 2)
        memcpy(&two, p, 2), two = __builtin_bswap16(two), memcpy(p, &two, 2);
    for (; nbytes == 4 && count > 0; count--, p += 4)
        memcpy(&four, p, 4), four = __builtin_bswap32(four), memcpy(p, &four, 4);
    for (; nbytes == 8 && count > 0; count--, p += 8)
        memcpy(&eight, p, 8), eight = __builtin_bswap64(eight), memcpy(p, &eight, 8);
}

void ga__dtype_swap_bytes(ga_dtype dtype, void *elements, size_t count)
{
    const size_t nbytes = ga__dtype_size(ga__dtype_real(dtype));

    swap_words(elements, nbytes, count * (ga__dtype_size(dtype) / nbytes));
}

void ga__dtype_normalise(ga_dtype dtype, void *elements, size_t count)
{
    unsigned char *p = elements;

    if (ga__dtype_kind(dtype) != 'b')
        return;
    for (size_t k = 0; k < count; k++)
        p[k] = p[k] != 0;
}

ga_dtype ga__dtype_named(const char *name, size_t length)
{
    for (int dtype = GA_NO_DTYPE + 1; dtype < GA_DTYPE_COUNT; dtype++) {
        const char *its = ga_dtype_name((ga_dtype)dtype);
        if (strlen(its) == length && memcmp(name, its, length) == 0)
            return (ga_dtype)dtype;
    }
    return GA_NO_DTYPE;
}

/* Fills the record of a product's kernel from its variant. */
#include "kernels/product/product_text.h"

#include "kernels/request.h"

typedef ga__product_variant variant;

enum { VECTOR_BYTES = 16, WARP = 32 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

size_t ga__product_word_bytes(ga_dtype type, bool host)
{
    const ga_dtype compute = ga__dtype_compute(type);
    const size_t size = ga__dtype_size(compute);
    const bool rounds = ga__dtype_rounds(type), truths = ga__dtype_kind(type) == 'b';
    if (!host)
        return size < sizeof(uint32_t) ? sizeof(uint32_t) : size;
    return size == 1 && !rounds && !truths ? 2 : size;
}

int ga__product_group(ga_dtype type)
{
    const size_t word = ga__product_word_bytes(type, false);
    return word <= 4 ? 4 : word <= 8 ? 2 : 1;
}

int ga__product_wide(const variant *v)
{
    if (v->tensor)
        return v->across;
    return v->ahead ? 2 * v->side : v->side;
}

int ga__product_factor_group(const variant *v)
{
    const size_t size = ga__dtype_size((ga_dtype)v->type);
    return v->tensor ? VECTOR_BYTES / (int)size : ga__product_group((ga_dtype)v->type);
}

int ga__product_column_group(const variant *v)
{
    if (!v->tensor)
        return least(v->columns, ga__product_group((ga_dtype)v->type));
    const int most = VECTOR_BYTES / (int)ga__dtype_size((ga_dtype)v->c);
    return least(v->b_along_k ? 2 : 2 * v->columns, most); /* two for each of a lane's columns */
}

int ga__product_team(const variant *v)
{
    return v->tensor ? WARP * v->across : v->side * ga__product_wide(v);
}

int ga__product_teams(const variant *v)
{
    return ga__product_team(v) < GA__PRODUCT_LITTLE_BLOCK
               ? GA__PRODUCT_LITTLE_BLOCK / ga__product_team(v)
               : 1;
}

int ga__product_stages(const variant *v)
{
    return v->ahead ? 2 : 1;
}

int ga__product_depth(const variant *v)
{
    return v->host ? GA__PRODUCT_DEPTH : 4 << v->depth;
}

/* Bytes of lines of c that lie along k or across it, as in product_tensor.cuda. */
static int tensor_bytes(const variant *v, bool along_k, int lines)
{
    const int size = (int)ga__dtype_size((ga_dtype)v->type), depth = ga__product_depth(v);
    const int whole =
        (lines + GA__PRODUCT_TENSOR_ROWS - 1) / GA__PRODUCT_TENSOR_ROWS * GA__PRODUCT_TENSOR_ROWS;
    return along_k ? lines * (depth * size / 4 | 8) * 4 : depth * (whole * size + VECTOR_BYTES);
}

static size_t tensor_shared_bytes(const variant *v)
{
    const int rows = GA__PRODUCT_TENSOR_ROWS * v->rows,
              columns = GA__PRODUCT_TENSOR_COLUMNS * v->columns * v->across;
    const int factors =
        tensor_bytes(v, v->a_along_k, rows) + tensor_bytes(v, v->b_along_k, columns);
    const int product = rows * columns * (int)sizeof(float);
    return (size_t)(ga__product_teams(v) * ga__product_stages(v) *
                    (factors > product ? factors : product));
}

/* As ga_stage of product_little.cuda. */
size_t ga__product_shared_bytes(const variant *v)
{
    if (v->tensor)
        return tensor_shared_bytes(v);
    const ga_dtype type = (ga_dtype)v->type;
    const int quad = ga__product_group(type), depth = ga__product_depth(v);
    const int rows = v->side * v->rows, columns = ga__product_wide(v) * v->columns;
    const int factors = rows * (depth + quad) + depth * (columns + quad);
    const int words = factors > rows * columns ? factors : rows * columns;
    return (size_t)(ga__product_teams(v) * ga__product_stages(v) * words) *
           ga__product_word_bytes(type, false);
}

size_t ga__product_param_words(const variant *v)
{
    const size_t scratch = v->host ? sizeof(ga__product_scratch) : 0;
    return (sizeof(ga__product_params) + scratch) / sizeof(uint64_t) +
           (size_t)v->axes * GA__PRODUCT_AXIS_WORDS;
}

static bool is_complex(uint8_t dtype)
{
    return ga__dtype_kind((ga_dtype)dtype) == 'c';
}

static void set_boolean(ga__record *record, const char *name, bool value)
{
    ga__record_set(record, name, value ? "true" : "false");
}

ga__record *ga__product_text(const ga__formula *formula, const variant *v)
{
    static const char *const texts[] = {"", NULL};
    const bool complex_types =
        is_complex(v->type) || is_complex(v->a) || is_complex(v->b) || is_complex(v->c);
    ga__record *record = ga__request_record(formula, v->host, 0, complex_types, texts);
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)ga__product_param_words(v));
    ga__record_set_flag(record, GA__KEY(transposes), v->host);
    ga__record_set(record, GA__KEY(type), ga__dtype_compute_type((ga_dtype)v->type));
    ga__record_set(record, GA__KEY(a_memory), ga__dtype_memory_type((ga_dtype)v->a));
    ga__record_set(record, GA__KEY(b_memory), ga__dtype_memory_type((ga_dtype)v->b));
    ga__record_set(record, GA__KEY(c_memory), ga__dtype_memory_type((ga_dtype)v->c));
    ga__record_set_flag(record, GA__KEY(scratch), v->host);
    ga__record_set_flag(record, GA__KEY(scaled), v->scales);
    ga__record_set_flag(record, GA__KEY(added), v->adds);
    ga__record_set_flag(record, GA__KEY(stack), v->axes > 0);
    ga__record_set_number(record, GA__KEY(axes), v->axes);
    ga__record_set_flag(record, GA__KEY(little), v->little);
    ga__record_set_number(record, GA__KEY(share),
                          v->host || !v->little ? GA__PRODUCT_SHARE : ga__product_teams(v));
    ga__record_set_flag(record, GA__KEY(tensor), v->tensor);
    ga__record_set_number(record, GA__KEY(team), ga__product_team(v));
    ga__record_set_number(record, GA__KEY(depth), ga__product_depth(v));
    ga__record_set_number(record, GA__KEY(stages), ga__product_stages(v));
    ga__record_set_number(record, GA__KEY(side), v->side);
    ga__record_set_number(record, GA__KEY(wide), ga__product_wide(v));
    set_boolean(record, GA__KEY(a_along_k), v->a_along_k);
    set_boolean(record, GA__KEY(b_along_k), v->b_along_k);
    set_boolean(record, GA__KEY(a_vectors), v->a_vectors);
    set_boolean(record, GA__KEY(b_vectors), v->b_vectors);
    set_boolean(record, GA__KEY(c_vectors), v->c_vectors);
    ga__record_set_number(record, GA__KEY(rows), v->rows);
    ga__record_set_number(record, GA__KEY(across), v->columns);
    return record;
}

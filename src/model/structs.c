/* The dtypes of structs, which programs make: rows beside the table of dtypes. */
#include "model/structs.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <quarry/struct.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/word.h"

#define MOST_ALIGNMENT 16 /* of CUDA's own types */

/* Filled in order, never emptied: a row is there if all before it are. */
static _Atomic(ga__dtype_row *) rows[GA__STRUCTS];

const ga__dtype_row *ga__struct_row(ga_dtype dtype)
{
    const unsigned place = (unsigned)dtype - GA_FIRST_STRUCT;
    const ga__dtype_row *row = place < GA__STRUCTS ? atomic_load(&rows[place]) : NULL;
    return row ? row : ga__dtype_rows;
}

size_t ga__dtype_alignment(ga_dtype dtype)
{
    const size_t size = ga__dtype_size(dtype), power = size & (~size + 1);
    return ga__dtype_is_struct(dtype) && power > MOST_ALIGNMENT ? MOST_ALIGNMENT
           : ga__dtype_is_struct(dtype)                         ? power
                                                                : size;
}

/* ---- Making ---- */

/* The texts of a row, which follow it in its memory. */
typedef struct texts {
    const char *name, *definition;
    char memory_type[64], npy[16]; /* "" : the name */
} texts;

static const char *append(char **at, const char *text)
{
    char *const copy = *at;
    const size_t room = strlen(text) + 1;
    memcpy(copy, text, room);
    *at += room;
    return copy;
}

static ga__dtype_row *new_row(size_t nbytes, const texts *t)
{
    const char *memory_type = *t->memory_type ? t->memory_type : t->name;
    const size_t room =
        strlen(t->name) + strlen(t->definition) + strlen(memory_type) + strlen(t->npy) + 4;
    ga__dtype_row *row = ga__calloc(1, sizeof *row + room);
    if (!row)
        return NULL;
    char *at = (char *)(row + 1);
    row->kind = 'V';
    row->nbytes = (unsigned)nbytes;
    row->c_names = "";
    row->name = append(&at, t->name);
    row->definition = append(&at, t->definition);
    row->memory_type = append(&at, memory_type);
    row->npy = append(&at, t->npy);
    return row;
}

static void set_dtype(ga__dtype_row *row, int place, ga_dtype moved)
{
    const ga_dtype dtype = (ga_dtype)(GA_FIRST_STRUCT + place);
    row->compute = row->real = row->floating = row->digits = dtype;
    row->moved = moved == GA_NO_DTYPE ? dtype : moved;
}

/* The row's dtype, or that of the row that has its name already: then the row is freed. */
static ga_dtype keep(ga__dtype_row *row, ga_dtype moved)
{
    for (int place = 0; place < GA__STRUCTS; place++) {
        ga__dtype_row *stands = NULL;
        set_dtype(row, place, moved);
        if (atomic_compare_exchange_strong(&rows[place], &stands, row))
            return (ga_dtype)(GA_FIRST_STRUCT + place);
        if (strcmp(stands->name, row->name) != 0)
            continue;
        const bool same =
            stands->nbytes == row->nbytes && strcmp(stands->definition, row->definition) == 0;
        if (!same)
            ga__fail(GA_ERR_INVALID,
                     "struct_dtype: \"%s\" is a dtype of %u bytes%s, not of %u bytes%s", row->name,
                     stands->nbytes, *stands->definition ? " with a definition" : "", row->nbytes,
                     *row->definition ? " with this definition" : "");
        ga__free(row);
        return same ? (ga_dtype)(GA_FIRST_STRUCT + place) : GA_NO_DTYPE;
    }
    ga__fail(GA_ERR_UNSUPPORTED, "struct_dtype: more than %d structs", GA__STRUCTS);
    ga__free(row);
    return GA_NO_DTYPE;
}

/* The dtype of this name, of those that were made so far. */
static ga_dtype find(const char *name)
{
    for (int place = 0; place < GA__STRUCTS; place++) {
        const ga__dtype_row *row = atomic_load(&rows[place]);
        if (!row)
            break;
        if (strcmp(row->name, name) == 0)
            return (ga_dtype)(GA_FIRST_STRUCT + place);
    }
    return GA_NO_DTYPE;
}

static ga_dtype check_size(size_t nbytes)
{
    if (nbytes > 0 && nbytes <= GA_MAX_STRUCT_BYTES)
        return GA_BOOL;
    ga__fail(GA_ERR_INVALID, "struct_dtype: %zu bytes, expected 1 to %d", nbytes,
             GA_MAX_STRUCT_BYTES);
    return GA_NO_DTYPE;
}

ga_dtype ga__bytes_dtype(size_t nbytes)
{
    char name[16];
    texts t = {.name = name, .definition = ""};
    if (check_size(nbytes) == GA_NO_DTYPE)
        return GA_NO_DTYPE;
    snprintf(name, sizeof name, "V%zu", nbytes);
    const ga_dtype known = find(name);
    if (known != GA_NO_DTYPE)
        return known;
    snprintf(t.memory_type, sizeof t.memory_type, "ga::bytes<%zu>", nbytes);
    snprintf(t.npy, sizeof t.npy, "|V%zu", nbytes);
    ga__dtype_row *row = new_row(nbytes, &t);
    return row ? keep(row, GA_NO_DTYPE) : GA_NO_DTYPE;
}

/* Words of a C++ name with "::" between them. */
static bool is_type_name(const char *name)
{
    for (;;) {
        if (!ga__in_word(*name) || isdigit((unsigned char)*name))
            return false;
        while (ga__in_word(*name))
            name++;
        if (*name == '\0')
            return true;
        if (name[0] != ':' || name[1] != ':')
            return false;
        name += 2;
    }
}

/* Whether the name is free for a struct of this size: it is no number's, and no bytes'. */
static bool check_name(const char *name, size_t nbytes)
{
    size_t bytes = 0;
    int length = 0;
    if (!name || !is_type_name(name) || strlen(name) > 64) {
        ga__fail(GA_ERR_INVALID, "struct_dtype: %s is not the name of a C++ type",
                 name ? name : "NULL");
        return false;
    }
    if (sscanf(name, "V%zu%n", &bytes, &length) == 1 && name[length] == '\0' && bytes != nbytes) {
        ga__fail(GA_ERR_INVALID, "struct_dtype: \"%s\" has %zu bytes, not %zu", name, bytes,
                 nbytes);
        return false;
    }
    if (ga__dtype_number_from_c(name) == GA_NO_DTYPE)
        return true;
    ga__fail(GA_ERR_INVALID, "struct_dtype: \"%s\" is a dtype of numbers", name);
    return false;
}

ga_dtype ga_struct_dtype(const char *name, size_t nbytes, const char *definition)
{
    texts t = {.name = name, .definition = definition ? definition : ""};
    if (!check_name(name, nbytes))
        return GA_NO_DTYPE;
    const ga_dtype moved = ga__bytes_dtype(nbytes);
    if (moved == GA_NO_DTYPE || strcmp(name, ga_dtype_name(moved)) == 0)
        return moved;
    snprintf(t.npy, sizeof t.npy, "|V%zu", nbytes);
    ga__dtype_row *row = new_row(nbytes, &t);
    return row ? keep(row, moved) : GA_NO_DTYPE;
}

/* ---- CUDA's vectors ---- */

/* The names before the count. An element has the first name in which its type occurs. */
static const struct {
    const char *name;
    ga_dtype element;
} vectors[] = {{"char", GA_INT8},      {"uchar", GA_UINT8},   {"short", GA_INT16},
               {"ushort", GA_UINT16},  {"int", GA_INT32},     {"uint", GA_UINT32},
               {"longlong", GA_INT64}, {"long", GA_INT64},    {"ulonglong", GA_UINT64},
               {"ulong", GA_UINT64},   {"float", GA_FLOAT32}, {"double", GA_FLOAT64}};
#define NVECTORS (sizeof vectors / sizeof *vectors)

static ga_dtype vector_dtype(size_t k, int count)
{
    char name[16];
    snprintf(name, sizeof name, "%s%d", vectors[k].name, count);
    const ga_dtype known = find(name);
    return known != GA_NO_DTYPE
               ? known
               : ga_struct_dtype(name, (size_t)count * ga__dtype_size(vectors[k].element), NULL);
}

ga_dtype ga_vector_dtype(ga_dtype element, int count)
{
    if (count < 1 || count > 4) {
        ga__fail(GA_ERR_INVALID, "vector_dtype: %d elements, expected 1 to 4", count);
        return GA_NO_DTYPE;
    }
    for (size_t k = 0; k < NVECTORS; k++)
        if (vectors[k].element == element)
            return vector_dtype(k, count);
    ga__fail(GA_ERR_DTYPE, "vector_dtype: CUDA has no vectors of %s", ga_dtype_name(element));
    return GA_NO_DTYPE;
}

ga_dtype ga__struct_from_c(const char *type)
{
    const size_t keyword = strlen("struct ");
    if (strncmp(type, "struct ", keyword) == 0)
        type += keyword;
    const size_t length = strlen(type);
    for (size_t k = 0; k < NVECTORS; k++)
        if (strlen(vectors[k].name) + 1 == length &&
            strncmp(type, vectors[k].name, length - 1) == 0 && type[length - 1] >= '1' &&
            type[length - 1] <= '4')
            return vector_dtype(k, type[length - 1] - '0');
    return find(type);
}

/* ---- Definitions ---- */

void ga__struct_define(ga_dtype dtype, bool *added, ga__strbuf *text)
{
    const int place = (int)dtype - GA_FIRST_STRUCT;
    const char *definition = ga__dtype_row_of(dtype)->definition;
    if (added[place])
        return;
    added[place] = true;
    if (!*definition)
        return;
    for (int earlier = 0; earlier < place; earlier++) {
        const ga_dtype other = (ga_dtype)(GA_FIRST_STRUCT + earlier);
        if (*ga__dtype_row_of(other)->definition &&
            ga__find_word(definition, ga__dtype_row_of(other)->name))
            ga__struct_define(other, added, text);
    }
    ga__strbuf_addf(text, "%s\n", definition);
}

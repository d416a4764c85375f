/* The data that fills templates: records of values and of lists of records. */
#include "jit/record.h"

#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"

struct pair {
    struct pair *next;
    size_t name_length, value_length;
    char text[]; /* name, NUL, value, NUL */
};

struct list {
    struct list *next;
    ga__record *first, *last;
    size_t name_length;
    char name[];
};

struct ga__record {
    ga__record *root; /* holds the sticky failure of all records below it */
    ga__record *next; /* in its list */
    struct pair *pairs;
    struct list *lists;
    bool failed;
};

static ga__record *record_in(ga__record *root)
{
    ga__record *record = ga__calloc(1, sizeof *record);
    if (record)
        record->root = root ? root : record;
    return record;
}

ga__record *ga__record_new(void)
{
    return record_in(NULL);
}

static void list_free(struct list *list)
{
    for (ga__record *record = list->first, *next; record; record = next) {
        next = record->next;
        ga__record_free(record);
    }
    ga__free(list);
}

void ga__record_free(ga__record *record)
{
    if (!record)
        return;
    for (struct pair *pair = record->pairs, *next; pair; pair = next) {
        next = pair->next;
        ga__free(pair);
    }
    for (struct list *list = record->lists, *next; list; list = next) {
        next = list->next;
        list_free(list);
    }
    ga__free(record);
}

static struct pair *pair_new(const char *name, const char *value)
{
    size_t name_length = strlen(name), value_length = strlen(value);
    struct pair *pair = ga__malloc(sizeof *pair + name_length + value_length + 2);
    if (!pair)
        return NULL;
    pair->name_length = name_length;
    pair->value_length = value_length;
    memcpy(pair->text, name, name_length + 1);
    memcpy(pair->text + name_length + 1, value, value_length + 1);
    return pair;
}

static const char *pair_value(const struct pair *pair)
{
    return pair->text + pair->name_length + 1;
}

/* Most names of one length differ in their first character: no record has an empty one. */
static bool is_named(const char *have, size_t have_length, const char *name, size_t length)
{
    return have_length == length && have[0] == name[0] && memcmp(have, name, length) == 0;
}

/* The link to the pair of this name, or the link where a new pair goes. */
static struct pair **pair_place(ga__record *record, const char *name, size_t length)
{
    struct pair **place = &record->pairs;
    while (*place && !is_named((*place)->text, (*place)->name_length, name, length))
        place = &(*place)->next;
    return place;
}

void ga__record_set(ga__record *record, const char *name, const char *value)
{
    if (!record)
        return;
    struct pair *pair = pair_new(name, value ? value : "");
    if (!pair) {
        record->root->failed = true;
        return;
    }
    struct pair **place = pair_place(record, name, pair->name_length);
    struct pair *old = *place;
    pair->next = old ? old->next : NULL;
    *place = pair;
    ga__free(old);
}

void ga__record_setf(ga__record *record, const char *name, const char *format, ...)
{
    if (!record)
        return;
    ga__strbuf value = GA__STRBUF_INIT;
    va_list args;
    va_start(args, format);
    ga__strbuf_vaddf(&value, format, args);
    va_end(args);
    if (value.failed)
        record->root->failed = true;
    else
        ga__record_set(record, name, value.text);
    ga__strbuf_reset(&value);
}

void ga__record_set_flag(ga__record *record, const char *name, bool flag)
{
    ga__record_set(record, name, flag ? "1" : "");
}

void ga__record_set_number(ga__record *record, const char *name, int64_t number)
{
    char digits[24], *first = digits + sizeof digits - 1;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    *first = '\0';
    do
        *--first = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        *--first = '-';
    ga__record_set(record, name, first);
}

const char *ga__record_value(const ga__record *record, const char *name, size_t length,
                             size_t *nbytes)
{
    const struct pair *pair = record ? record->pairs : NULL;
    while (pair && !is_named(pair->text, pair->name_length, name, length))
        pair = pair->next;
    if (!pair)
        return NULL;
    *nbytes = pair->value_length;
    return pair_value(pair);
}

static struct list *find_list(const ga__record *record, const char *name, size_t length)
{
    struct list *list = record->lists;
    while (list && !is_named(list->name, list->name_length, name, length))
        list = list->next;
    return list;
}

static struct list *find_or_make_list(ga__record *record, const char *name)
{
    size_t length = strlen(name);
    struct list *list = find_list(record, name, length);
    if (list)
        return list;
    list = ga__calloc(1, sizeof *list + length + 1);
    if (!list) {
        record->root->failed = true;
        return NULL;
    }
    list->name_length = length;
    memcpy(list->name, name, length + 1);
    list->next = record->lists;
    record->lists = list;
    return list;
}

void ga__record_list(ga__record *record, const char *list)
{
    if (record)
        find_or_make_list(record, list);
}

bool ga__record_find_list(const ga__record *record, const char *name, size_t length,
                          const ga__record **first)
{
    const struct list *list = record ? find_list(record, name, length) : NULL;
    if (list)
        *first = list->first;
    return list;
}

const ga__record *ga__record_next(const ga__record *record)
{
    return record->next;
}

bool ga__record_failed(const ga__record *record)
{
    return record && record->root->failed;
}

ga__record *ga__record_append(ga__record *record, const char *list)
{
    struct list *into = record ? find_or_make_list(record, list) : NULL;
    if (!into)
        return NULL;
    ga__record *fresh = record_in(record->root);
    if (!fresh) {
        record->root->failed = true;
        return NULL;
    }
    if (into->last)
        into->last->next = fresh;
    else
        into->first = fresh;
    into->last = fresh;
    return fresh;
}

static void print_text(const char *text, size_t length, ga__strbuf *out)
{
    ga__strbuf_add_bytes(out, text, length + 1);
}

/* Prints texts that end with NUL: a name, then its value; or "[", which starts no name, a list's
 * name, its records with ";" after each, and "]". */
static void print_record(const ga__record *record, ga__strbuf *out)
{
    for (const struct pair *pair = record->pairs; pair; pair = pair->next)
        print_text(pair->text, pair->name_length + 1 + pair->value_length, out);
    for (const struct list *list = record->lists; list; list = list->next) {
        ga__strbuf_add(out, "[");
        print_text(list->name, list->name_length, out);
        for (const ga__record *entry = list->first; entry; entry = entry->next) {
            print_record(entry, out);
            print_text(";", 1, out);
        }
        print_text("]", 1, out);
    }
}

void ga__record_print(const ga__record *record, ga__strbuf *out)
{
    if (!record)
        return;
    print_record(record, out);
    out->failed |= record->root->failed;
}

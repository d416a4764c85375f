/* Many small checks at once: one thread per processor, and failures that are reported at the
 * end. */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"

static atomic_int next_item;
static int item_count;
static const int *item_list;
static void (*item_work)(int item);

static void *take_items(void *unused)
{
    for (int k = atomic_fetch_add(&next_item, 1); k < item_count;
         k = atomic_fetch_add(&next_item, 1))
        item_work(item_list[k]);
    return unused;
}

static void run_items(int count, const int *list, void (*work)(int item))
{
    enum { MOST = 15 };
    pthread_t others[MOST];
    const long processors = getenv("QUARRY_TEST_REDUCED") ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    int started = 0;
    atomic_store(&next_item, 0);
    item_count = count;
    item_list = list;
    item_work = work;
    while (started < MOST && started < processors - 1 &&
           pthread_create(&others[started], NULL, take_items, NULL) == 0)
        started++;
    take_items(NULL);
    while (started > 0)
        pthread_join(others[--started], NULL);
}

static bool number_in_sample(int item)
{
    char text[20];
    snprintf(text, sizeof text, "%d", item);
    return in_sample(text);
}

static void run_selected(int count, const char *(*row_text)(int item), void (*work)(int item))
{
    int *list = malloc((size_t)count * sizeof *list), n = 0;
    assert_non_null(list);
    for (int item = 0; item < count; item++)
        if (row_text ? row_selected(row_text(item)) : number_in_sample(item))
            list[n++] = item;
    run_items(n, list, work);
    free(list);
}

void in_threads(int count, void (*work)(int item))
{
    run_selected(count, NULL, work);
}

void rows_in_threads(int count, const char *(*row_text)(int item), void (*work)(int item))
{
    run_selected(count, row_text, work);
}

static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;
static int failure_count;

void fail_later(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&failure_lock);
    const char *all = getenv("QUARRY_TEST_ALL_FAILURES");
    if (failure_count++ < 20 || all) {
        char text[500];
        vsnprintf(text, sizeof text, format, args);
        fprintf(stderr, "%s\n", text);
    }
    pthread_mutex_unlock(&failure_lock);
    va_end(args);
}

int failures(void)
{
    int count = failure_count;
    if (count > 20)
        fprintf(stderr, "%d failures in all\n", count);
    const char *seed = getenv("QUARRY_TEST_SAMPLE");
    if (count > 0 && seed)
        fprintf(stderr, "QUARRY_TEST_SAMPLE=%s\n", seed);
    failure_count = 0;
    return count;
}

/* Many small checks at once: one thread per processor, and failures that are reported at the
 * end. */
#ifndef GA_TESTS_PARALLEL_H
#define GA_TESTS_PARALLEL_H

#include <quarry/error.h>

/* Runs work(0) .. work(count - 1), those of them that are in the sample (run.h), on one thread per
 * processor, in any order; with QUARRY_TEST_REDUCED set on one thread. */
void in_threads(int count, void (*work)(int item));

/* The same for the rows of a table test (run.h): all that the program's arguments select. */
void rows_in_threads(int count, const char *(*row_text)(int item), void (*work)(int item));

/* Records a failure from any thread, and prints the first twenty. */
void fail_later(const char *format, ...) GA_PRINTF(1, 2);

/* The number of failures recorded since the last call. */
int failures(void);

#endif

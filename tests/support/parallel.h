/* Many small checks at once: a thread per processor, and failures that wait for its end. */
#ifndef GA_TESTS_PARALLEL_H
#define GA_TESTS_PARALLEL_H

#include <quarry/error.h>

/* Runs work(0) .. work(count - 1) from a thread per processor, in any order; with
 * QUARRY_TEST_REDUCED set (under slow checkers) every 37th, from one thread. */
void in_threads(int count, void (*work)(int item));

/* The same for the rows of a table test (run.h): all of those that the program's arguments name.
 */
void rows_in_threads(int count, const char *(*row_text)(int item), void (*work)(int item));

/* Records a failure from any thread, and prints the first twenty. */
void fail_later(const char *format, ...) GA_PRINTF(1, 2);

/* How many failures were recorded since the last call. */
int failures(void);

#endif

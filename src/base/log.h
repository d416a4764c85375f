/* Sends log lines to the user's callback, or to standard error as QUARRY_LOG requests. */
#ifndef GA_BASE_LOG_H
#define GA_BASE_LOG_H

#include <stdbool.h>

#include <quarry/error.h>

/* Whether anything listens at this level. Check it before preparing anything costly. */
bool ga__log_wanted(ga_log_level level);
void ga__log(ga_log_level level, const char *format, ...) GA_PRINTF(2, 3);

#endif

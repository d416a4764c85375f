/* Log lines, to the user's callback or by QUARRY_LOG to standard error. */
#ifndef GA_BASE_LOG_H
#define GA_BASE_LOG_H

#include <stdbool.h>

#include <quarry/error.h>

/* Whether anyone listens at this level: ask before preparing anything costly. */
bool ga__log_wanted(ga_log_level level);
void ga__log(ga_log_level level, const char *format, ...) GA_PRINTF(2, 3);

#endif

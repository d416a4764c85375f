/* Settings of the environment, whose wrong values are reported once through the log. */
#ifndef GA_BASE_SETTING_H
#define GA_BASE_SETTING_H

#include <stdbool.h>

/* The variable as a number from least to most; `otherwise` if it is unset, empty or wrong. */
double ga__setting_number(const char *name, double least, double most, double otherwise);

/* The same for a whole number. */
long long ga__setting_integer(const char *name, long long least, long long most,
                              long long otherwise);

/* Whether the variable is this word; any other word but "0" and "" is wrong. */
bool ga__setting_is(const char *name, const char *word);

/* Logs that the variable's value is ignored, unless that was logged before. `takes` says what the
 * variable may be. */
void ga__setting_refuse(const char *name, const char *value, const char *takes);

#endif

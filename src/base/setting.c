/* Settings of the environment, whose wrong values are reported once through the log. */
#include "base/setting.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/os/environment.h"
#include "base/os/fork.h"

enum { MOST_NAMES = 16, TEXT = 96 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&lock, GA__FORK_LEAF, NULL)
static const char *reported[MOST_NAMES];

/* Whether this is the first report of the variable. */
static bool is_first(const char *name)
{
    int k = 0;
    pthread_mutex_lock(&lock);
    while (k < MOST_NAMES && reported[k] && strcmp(reported[k], name) != 0)
        k++;
    const bool first = k < MOST_NAMES && !reported[k];
    if (first)
        reported[k] = name;
    pthread_mutex_unlock(&lock);
    return first;
}

void ga__setting_refuse(const char *name, const char *value, const char *takes)
{
    if (ga__log_wanted(GA_LOG_ERROR) && is_first(name))
        ga__log(GA_LOG_ERROR, "%s=%s is ignored: it takes %s", name, value, takes);
}

/* The variable's text; NULL if it is unset or empty. */
static const char *text_of(const char *name)
{
    const char *text = ga__environment(name);
    return text && *text ? text : NULL;
}

double ga__setting_number(const char *name, double least, double most, double otherwise)
{
    char takes[TEXT], *end = NULL;
    const char *text = text_of(name);
    const double number = text ? strtod(text, &end) : 0;
    if (!text)
        return otherwise;
    if (*end == '\0' && number >= least && number <= most)
        return number;
    snprintf(takes, sizeof takes, "a number from %g to %g", least, most);
    ga__setting_refuse(name, text, takes);
    return otherwise;
}

long long ga__setting_integer(const char *name, long long least, long long most,
                              long long otherwise)
{
    char takes[TEXT], *end = NULL;
    const char *text = text_of(name);
    if (!text)
        return otherwise;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0 && number >= least && number <= most)
        return number;
    snprintf(takes, sizeof takes, "an integer from %lld to %lld", least, most);
    ga__setting_refuse(name, text, takes);
    return otherwise;
}

bool ga__setting_is(const char *name, const char *word)
{
    const char *text = text_of(name);
    if (!text || strcmp(text, "0") == 0)
        return false;
    if (strcmp(text, word) == 0)
        return true;
    ga__setting_refuse(name, text, word);
    return false;
}

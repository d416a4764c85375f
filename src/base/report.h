/* Reports a thread's new error: to the log, to the program's handler, to a debugger. */
#ifndef GA_BASE_REPORT_H
#define GA_BASE_REPORT_H

#include <quarry/error.h>

void ga__report_error(ga_status status, const char *message, ga_site site);

#endif

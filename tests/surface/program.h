/* What each part of the surface program has: arrays to work on, and a list of results with the
 * NumPy expression that gives the same. */
#ifndef SURFACE_PROGRAM_H
#define SURFACE_PROGRAM_H

#include <quarry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* C++20 and C have designated initialisers. */
#if !defined(__cplusplus) || __cplusplus >= 202002L
#define OPTIONS 1
#else
#define OPTIONS 0
#endif

/* The folder that gets the results. */
static const char *folder;
static int shown;

/* Saves the result of the call beside its NumPy expression; surface.py compares them. */
static void show_(const char *expression, const char *call, gpuarray *result, int line)
{
    char path[4096];
    if (ga_error() != GA_OK || !result) {
        printf("%d\terror\t%s\t%s\t%s\n", line, expression, call, ga_error_message());
        ga_clear_error();
        return;
    }
    snprintf(path, sizeof path, "%s/%d.npy", folder, shown);
    if (ga_save(result, path) != GA_OK)
        exit(3);
    printf("%d\t%d\t%s\t%s\n", line, shown++, expression, call);
}
#define SHOW(expression, ...) show_(expression, #__VA_ARGS__, __VA_ARGS__, __LINE__)

/* A number as a result. */
#define NUMBER(expression, number)                                                                 \
    show_(expression, "number: " #number, ga_scalar(GA_FLOAT64, GA_CAST_(double, number)), __LINE__)

/* The same for a call that returns a status and sets what is shown. */
#define AFTER(expression, status, ...)                                                             \
    do {                                                                                           \
        if ((status) != GA_OK)                                                                     \
            printf("%d\terror\t%s\t%s\t%s\n", __LINE__, expression, #status, ga_error_message());  \
        ga_clear_error();                                                                          \
        show_(expression, #__VA_ARGS__ " after " #status, __VA_ARGS__, __LINE__);                  \
    } while (0)

#endif

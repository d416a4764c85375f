/* A library with NVRTC's functions for tests: as NVRTC does, it opens its built-in functions by
 * name alone. It compiles anything to the same bytes. Built with BUILTINS it is those functions.
 * FAKE_VERSION is the version that it says it is. */
#ifdef BUILTINS
int fake_builtins = 1;
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 128, BUILTIN_OPERATION_FAILURE = 7 };

int nvrtcVersion(int *major, int *minor)
{
    const char *version = getenv("FAKE_VERSION");
    return sscanf(version ? version : "77.7", "%d.%d", major, minor) == 2 ? 0 : 1;
}

int nvrtcCreateProgram(void **made, const char *source, const char *name, int nheaders,
                       const char *const *headers, const char *const *include_names)
{
    (void)source, (void)name, (void)nheaders, (void)headers, (void)include_names;
    *made = made;
    return 0;
}

int nvrtcDestroyProgram(void **p)
{
    *p = NULL;
    return 0;
}

int nvrtcCompileProgram(void *p, int noptions, const char *const *options)
{
    (void)p, (void)noptions, (void)options;
    return dlopen("libnvrtc-builtins.so.77.7", RTLD_NOW) ? 0 : BUILTIN_OPERATION_FAILURE;
}

int nvrtcGetProgramLogSize(void *p, size_t *nbytes)
{
    (void)p;
    *nbytes = 0;
    return 0;
}

int nvrtcGetProgramLog(void *p, char *text)
{
    (void)p, (void)text;
    return 0;
}

int nvrtcGetCUBINSize(void *p, size_t *nbytes)
{
    (void)p;
    *nbytes = SIZE;
    return 0;
}

int nvrtcGetCUBIN(void *p, char *code)
{
    (void)p;
    memset(code, 0, SIZE);
    memcpy(code, "\177ELF", 4);
    return 0;
}

const char *nvrtcGetErrorString(int result)
{
    return result ? "the functions that NVRTC opens are not found" : "success";
}

int nvrtcAddNameExpression(void *p, const char *name)
{
    (void)p, (void)name;
    return 0;
}

int nvrtcGetLoweredName(void *p, const char *name, const char **symbol)
{
    (void)p;
    *symbol = name;
    return 0;
}
#endif

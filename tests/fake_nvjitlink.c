/* A library with nvJitLink's functions for tests, which link nothing. FAKE_VERSION is the version
 * that it says it is. */
#include <stdio.h>
#include <stdlib.h>

int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    const char *version = getenv("FAKE_VERSION");
    return version && sscanf(version, "%u.%u", major, minor) == 2 ? 0 : 1;
}

#define FAILS(name)                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 1;                                                                                  \
    }
FAILS(nvJitLinkCreate)
FAILS(nvJitLinkDestroy)
FAILS(nvJitLinkAddData)
FAILS(nvJitLinkAddFile)
FAILS(nvJitLinkComplete)
FAILS(nvJitLinkGetLinkedCubinSize)
FAILS(nvJitLinkGetLinkedCubin)
FAILS(nvJitLinkGetErrorLogSize)
FAILS(nvJitLinkGetErrorLog)

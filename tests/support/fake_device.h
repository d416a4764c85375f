/* A CUDA device that only compiles: code goes through NVRTC (of a build with CUDA), memory is the
 * host's, and launches are noted. */
#ifndef GA_TESTS_FAKE_DEVICE_H
#define GA_TESTS_FAKE_DEVICE_H

#include "device/context.h"

/* The answers it gives about modules, and the requests it received. */
extern struct fake {
    ga__function_info info; /* of every kernel of a module */
    unsigned char variable[32];
    char symbol[128]; /* the last one requested */
    int launches, unloads;
    _Atomic int rejected; /* sources that did not compile */
    bool busy, broken;    /* work is never done; waiting for it fails */
    int events, recorded; /* existing now; recorded so far */
    ga__grid_launch last;
    unsigned char args[16][64];
} fake;

extern const ga__backend fake_backend;

/* One of each architecture: 75, 80, 90, 100, 120. */
enum { DEVICES = 5 };
extern ga__device devices[DEVICES];

bool open_fake_devices(void);

#endif

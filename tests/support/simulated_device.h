/* A CUDA device without a GPU: the simulator of users' modules runs its kernels on the host.
 * Compiling for it is slow, so tests use few kernels of each kind. */
#ifndef GA_TESTS_SIMULATED_DEVICE_H
#define GA_TESTS_SIMULATED_DEVICE_H

#include "device/context.h"

/* The requests it received. */
extern struct simulated {
    int launches;
    int rejected;  /* sources that did not compile */
    int carveout;  /* the latest that an engine asked for */
    bool captured; /* whether a graph of a user's records its streams, as it is told */
    ga__launch last;
} simulated;

extern ga__device simulated_device;

/* `processors`: few, so that small problems count as large ones. */
bool open_simulated_device(int processors);

/* Gives the simulated device a library of products; as it is opened, it has none. */
void simulate_products(const ga__product_verbs *verbs);

/* Makes the tests' cuBLASLt that of this process and of the simulated device, which the test uses
 * then; returns its path, $FAKE_CUBLASLT. Skips the test on a GPU, whose products need the real
 * library, and without a path. */
const char *simulate_cublaslt(void);

/* Skips the test on a GPU: what the simulator does, it does on the host. */
void need_simulator(void);

/* A test that runs on the simulated device, which it opens with two processors if none did; later
 * tests run on the default device again. A sample has one of eight (sample_tests() in run.h). */
#define simulated_test(test)                                                                       \
    cmocka_unit_test_setup_teardown(test, use_simulated_device, use_default_device)

/* A test that uses the simulated device itself, for a part of its work. */
#define simulating_test(test) cmocka_unit_test_teardown(test, use_default_device)

int use_simulated_device(void **state);
int use_default_device(void **state);

#endif

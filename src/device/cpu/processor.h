/* Describes the processor that compiled code runs on, as this process sees it. */
#ifndef GA_DEVICE_CPU_PROCESSOR_H
#define GA_DEVICE_CPU_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler options that select the instruction sets, ended by NULL. "-march=native", except in
 * an emulator such as Valgrind, whose processor differs from the one that the compiler sees: there,
 * each instruction set that the emulator supports, by name. A static list. */
const char *const *ga__processor_options(void);

/* A hash of everything that determines the available instructions: code that was compiled for a
 * processor runs on every other one with the same hash. */
uint64_t ga__processor_hash(void);

/* ---- The parts, for tests ---- */

enum { GA__CPUID_LEAVES = 4, GA__CPUID_REGISTERS = 4 };

/* The results of the CPUID instruction, without those that differ between the cores of one
 * processor. */
typedef struct ga__cpuid {
    uint32_t vendor[3];
    uint32_t leaf[GA__CPUID_LEAVES][GA__CPUID_REGISTERS];
    uint64_t saved; /* the register states that the system saves: XCR0 */
} ga__cpuid;

/* Zeros if there is no such instruction. */
void ga__cpuid_read(ga__cpuid *cpuid);

/* Whether the processor of `cpuid` differs from that of /proc/cpuinfo, given as text: another
 * model, or one that lacks a feature. False for an empty text. */
bool ga__cpuid_is_emulated(const ga__cpuid *cpuid, const char *cpuinfo);

/* The options for the instruction sets of `cpuid`, ended by NULL; `options` has room for 32. */
void ga__cpuid_options(const ga__cpuid *cpuid, const char **options);

/* A hash of `cpuid` and of the lines of /proc/cpuinfo that identify the processor. */
uint64_t ga__cpuid_hash(const ga__cpuid *cpuid, const char *cpuinfo);

#endif

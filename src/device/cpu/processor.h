/* The processor that compiled code runs on, as this process sees it. */
#ifndef GA_DEVICE_CPU_PROCESSOR_H
#define GA_DEVICE_CPU_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler's options that choose the instructions, ended by NULL. "-march=native", unless this
 * process runs in an emulator such as Valgrind, whose processor is not the one the compiler sees:
 * then each instruction set that the emulator has, by name. A static list. */
const char *const *ga__processor_options(void);

/* A hash of all that tells which instructions there are: code that was compiled for the processor
 * of one hash runs on every other that has it. */
uint64_t ga__processor_hash(void);

/* ---- The parts, for tests ---- */

enum { GA__CPUID_LEAVES = 4, GA__CPUID_REGISTERS = 4 };

/* What the CPUID instruction says, without what differs between the cores of one processor. */
typedef struct ga__cpuid {
    uint32_t vendor[3];
    uint32_t leaf[GA__CPUID_LEAVES][GA__CPUID_REGISTERS];
    uint64_t saved; /* the register states that the system keeps: XCR0 */
} ga__cpuid;

/* Zeros where there is no such instruction. */
void ga__cpuid_read(ga__cpuid *cpuid);

/* Whether the processor of `cpuid` is not that of /proc/cpuinfo, whose text is given: another
 * model, or one that lacks something. False for an empty text. */
bool ga__cpuid_is_emulated(const ga__cpuid *cpuid, const char *cpuinfo);

/* The options for the instruction sets of `cpuid`, ended by NULL; `options` has room for 32. */
void ga__cpuid_options(const ga__cpuid *cpuid, const char **options);

/* A hash of `cpuid`, and of the lines of /proc/cpuinfo that name the processor. */
uint64_t ga__cpuid_hash(const ga__cpuid *cpuid, const char *cpuinfo);

#endif

/* Finds the instruction sets that compiled code may use, and tells processors apart. */
#include "device/cpu/processor.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/hash.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- CPUID ---- */

/* The rows of ga__cpuid.leaf. */
enum leaf { BASIC, EXTENDED, EXTENDED_1, AMD };

enum cpuid_register { EAX, EBX, ECX, EDX };

#define SAVED_AVX 0x6u     /* XCR0: the registers of SSE and AVX */
#define SAVED_AVX512 0xe6u /* and of AVX-512 */
#define HAS_XGETBV (1u << 27)

#ifdef __x86_64__
/* In a virtual machine each CPUID traps to the hypervisor, which takes 4 us or more. */
static void read_leaf(uint32_t *leaf, uint32_t number, uint32_t part)
{
    __cpuid_count(number, part, leaf[EAX], leaf[EBX], leaf[ECX], leaf[EDX]);
}

static uint64_t read_saved(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

void ga__cpuid_read(ga__cpuid *cpuid)
{
    uint32_t first[GA__CPUID_REGISTERS];

    memset(cpuid, 0, sizeof *cpuid);
    read_leaf(first, 0, 0);
    memcpy(cpuid->vendor, (const uint32_t[]){first[EBX], first[EDX], first[ECX]},
           sizeof cpuid->vendor);
    read_leaf(cpuid->leaf[BASIC], 1, 0);
    cpuid->leaf[BASIC][EBX] = 0; /* the core's number */
    if (first[EAX] >= 7)
        read_leaf(cpuid->leaf[EXTENDED], 7, 0);
    if (cpuid->leaf[EXTENDED][EAX] >= 1)
        read_leaf(cpuid->leaf[EXTENDED_1], 7, 1);
    read_leaf(cpuid->leaf[AMD], 0x80000001, 0); /* every 64-bit processor has it */
    if (cpuid->leaf[BASIC][ECX] & HAS_XGETBV)
        cpuid->saved = read_saved();
}
#else
void ga__cpuid_read(ga__cpuid *cpuid)
{
    memset(cpuid, 0, sizeof *cpuid);
}
#endif

/* ---- features ---- */

/* An instruction set: its name in /proc/cpuinfo, its bit in CPUID, the register state that it
 * requires, and its compiler option; the option is NULL if only some compilers have it. */
static const struct feature {
    const char *name;
    enum leaf leaf;
    enum cpuid_register where;
    int bit;
    uint64_t saved;
    const char *option;
} features[] = {
    {"pni", BASIC, ECX, 0, 0, "-msse3"},
    {"ssse3", BASIC, ECX, 9, 0, "-mssse3"},
    {"fma", BASIC, ECX, 12, SAVED_AVX, "-mfma"},
    {"cx16", BASIC, ECX, 13, 0, "-mcx16"},
    {"sse4_1", BASIC, ECX, 19, 0, "-msse4.1"},
    {"sse4_2", BASIC, ECX, 20, 0, "-msse4.2"},
    {"movbe", BASIC, ECX, 22, 0, "-mmovbe"},
    {"popcnt", BASIC, ECX, 23, 0, "-mpopcnt"},
    {"avx", BASIC, ECX, 28, SAVED_AVX, "-mavx"},
    {"f16c", BASIC, ECX, 29, SAVED_AVX, "-mf16c"},
    {"bmi1", EXTENDED, EBX, 3, 0, "-mbmi"},
    {"avx2", EXTENDED, EBX, 5, SAVED_AVX, "-mavx2"},
    {"bmi2", EXTENDED, EBX, 8, 0, "-mbmi2"},
    {"abm", AMD, ECX, 5, 0, "-mlzcnt"},
    {"avx512f", EXTENDED, EBX, 16, SAVED_AVX512, "-mavx512f"},
    {"avx512dq", EXTENDED, EBX, 17, SAVED_AVX512, "-mavx512dq"},
    {"avx512cd", EXTENDED, EBX, 28, SAVED_AVX512, "-mavx512cd"},
    {"avx512bw", EXTENDED, EBX, 30, SAVED_AVX512, "-mavx512bw"},
    {"avx512vl", EXTENDED, EBX, 31, SAVED_AVX512, "-mavx512vl"},
    {"aes", BASIC, ECX, 25, 0, NULL},
    {"pclmulqdq", BASIC, ECX, 1, 0, NULL},
    {"adx", EXTENDED, EBX, 19, 0, NULL},
    {"sha_ni", EXTENDED, EBX, 29, 0, NULL},
    {"avx512vbmi", EXTENDED, ECX, 1, SAVED_AVX512, NULL},
    {"avx512_vbmi2", EXTENDED, ECX, 6, SAVED_AVX512, NULL},
    {"gfni", EXTENDED, ECX, 8, 0, NULL},
    {"vaes", EXTENDED, ECX, 9, SAVED_AVX, NULL},
    {"vpclmulqdq", EXTENDED, ECX, 10, SAVED_AVX, NULL},
    {"avx512_vnni", EXTENDED, ECX, 11, SAVED_AVX512, NULL},
    {"avx512_fp16", EXTENDED, EDX, 23, SAVED_AVX512, NULL},
    {"avx_vnni", EXTENDED_1, EAX, 4, SAVED_AVX, NULL},
    {"avx512_bf16", EXTENDED_1, EAX, 5, SAVED_AVX512, NULL},
    {"fma4", AMD, ECX, 16, SAVED_AVX, NULL},
    {"xop", AMD, ECX, 11, SAVED_AVX, NULL},
    {"sse4a", AMD, ECX, 6, 0, NULL},
};

static bool has_feature(const ga__cpuid *cpuid, const struct feature *f)
{
    return cpuid->leaf[f->leaf][f->where] >> f->bit & 1 && (cpuid->saved & f->saved) == f->saved;
}

void ga__cpuid_options(const ga__cpuid *cpuid, const char **options)
{
    *options++ = "-march=x86-64";
    for (size_t i = 0; i < COUNT(features); i++)
        if (features[i].option != NULL && has_feature(cpuid, &features[i]))
            *options++ = features[i].option;
    *options = NULL;
}

/* ---- /proc/cpuinfo ---- */

/* The text after "name : " of the first processor; NULL when there is none. */
static const char *value_of(const char *cpuinfo, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = cpuinfo; *line != '\0' && *line != '\n';) {
        const char *rest = line + length;
        if (strncmp(line, name, length) == 0 && rest[strspn(rest, "\t ")] == ':') {
            rest += strspn(rest, "\t ") + 1;
            return rest + strspn(rest, " ");
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return NULL;
}

/* Whether the word occurs in the rest of the line. */
static bool has_word(const char *line, const char *word)
{
    const size_t length = strlen(word);
    while (*line != '\0' && *line != '\n') {
        const size_t n = strcspn(line, " \n");
        if (n == length && memcmp(line, word, n) == 0)
            return true;
        line += n + (line[n] == ' ');
    }
    return false;
}

static bool names(const char *value, const char *text)
{
    return strncmp(value, text, strlen(text)) == 0 && strchr("\n", value[strlen(text)]) != NULL;
}

/* Compares family, model and stepping, which leaf 1 encodes as the Intel and AMD manuals
 * describe. */
static bool is_same_model(const ga__cpuid *cpuid, const char *cpuinfo)
{
    const uint32_t word = cpuid->leaf[BASIC][EAX];
    uint32_t family = word >> 8 & 0xf, model = word >> 4 & 0xf;
    if (family == 6 || family == 15)
        model += (word >> 16 & 0xf) << 4;
    if (family == 15)
        family += word >> 20 & 0xff;
    char vendor[sizeof cpuid->vendor + 1] = "";
    memcpy(vendor, cpuid->vendor, sizeof cpuid->vendor);
    const char *vendor_there = value_of(cpuinfo, "vendor_id");
    const char *family_there = value_of(cpuinfo, "cpu family");
    const char *model_there = value_of(cpuinfo, "model");
    return vendor_there == NULL || family_there == NULL || model_there == NULL ||
           (names(vendor_there, vendor) && strtoul(family_there, NULL, 10) == family &&
            strtoul(model_there, NULL, 10) == model);
}

bool ga__cpuid_is_emulated(const ga__cpuid *cpuid, const char *cpuinfo)
{
    const char *flags = value_of(cpuinfo, "flags");
    if (cpuid->vendor[0] == 0 || flags == NULL)
        return false;
    for (size_t i = 0; i < COUNT(features); i++)
        if (!has_feature(cpuid, &features[i]) && has_word(flags, features[i].name))
            return true;
    return !is_same_model(cpuid, cpuinfo);
}

/* Whether a line determines which instructions there are. Other lines change over time, such as the
 * clock rate. */
static bool names_processor(const char *line)
{
    static const char *const starts[] = {"vendor_id", "cpu family", "model",    "stepping",
                                         "flags",     "Features",   "CPU impl", "CPU arch",
                                         "CPU vari",  "CPU part",   "isa",      "uarch"};
    for (size_t i = 0; i < COUNT(starts); i++)
        if (strncmp(line, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

uint64_t ga__cpuid_hash(const ga__cpuid *cpuid, const char *cpuinfo)
{
    uint64_t hash = ga__hash64(cpuid, sizeof *cpuid, 0);
    for (const char *line = cpuinfo; *line != '\0' && *line != '\n';) {
        const size_t n = strcspn(line, "\n");
        if (names_processor(line))
            hash = ga__hash64(line, n, hash);
        line += n + (line[n] == '\n');
    }
    return hash;
}

/* ---- this process's processor ---- */

static const char *native_options[] = {
#ifdef __x86_64__
    "-march=native",
#else
    "-mcpu=native", /* clang has only this option on other architectures; GCC has both */
#endif
    NULL};
static const char *emulated_options[COUNT(features) + 2];
static const char *const *chosen_options = native_options;
static uint64_t chosen_hash;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Reads the entry of the first processor; the text is empty if there is no such file. */
static void read_cpuinfo(char *text, size_t size)
{
    const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
}

static void look(void)
{
    static char cpuinfo[4096]; /* the first processor; the system writes no more than requested */
    const uint64_t hints[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    ga__cpuid cpuid;
    read_cpuinfo(cpuinfo, sizeof cpuinfo);
    ga__cpuid_read(&cpuid);
    if (ga__cpuid_is_emulated(&cpuid, cpuinfo)) {
        ga__cpuid_options(&cpuid, emulated_options);
        chosen_options = emulated_options;
    }
    chosen_hash = ga__hash64(hints, sizeof hints, ga__cpuid_hash(&cpuid, cpuinfo));
}

const char *const *ga__processor_options(void)
{
    pthread_once(&once, look);
    return chosen_options;
}

uint64_t ga__processor_hash(void)
{
    pthread_once(&once, look);
    return chosen_hash;
}

/* Translates NVRTC's options to those of the host's C++ compiler, by a table. */
#include "device/simt/options.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"

/* The effect of an option on the host. */
enum use {
    NONE, /* no value, or an unused one; `host` holds the words to pass, or NULL */
    DEFINED,
    UNDEFINED,
    INCLUDED,
    SEARCHED, /* for headers */
    STANDARD, /* of C++ */
    FMAD,     /* true or false */
};

/* NVRTC's options without their leading dashes (NVRTC 13.0, section 3.7 of its manual). */
static const struct option {
    const char *name;
    enum use use;
    const char *host; /* words separated by blanks */
} options[] = {
    {"D", DEFINED, NULL},
    {"define-macro", DEFINED, NULL},
    {"U", UNDEFINED, NULL},
    {"undefine-macro", UNDEFINED, NULL},
    {"I", SEARCHED, NULL},
    {"include-path", SEARCHED, NULL},
    {"pre-include", INCLUDED, NULL},
    {"include", INCLUDED, NULL},
    {"std", STANDARD, NULL},
    {"use_fast_math", NONE, "-ffast-math -fno-finite-math-only"},
    {"fmad", FMAD, NULL},
    {"device-debug", NONE, "-O0 -g"},
    {"G", NONE, "-O0 -g"},
    {"generate-line-info", NONE, "-g1"},
    {"lineinfo", NONE, "-g1"},
    {"disable-warnings", NONE, "-w"},
    {"w", NONE, "-w"},
    {"arch", NONE, NULL},
    {"auto-pch", NONE, NULL},
    {"brief-diag", NONE, NULL},
    {"brief-diagnostics", NONE, NULL},
    {"builtin-initializer-list", NONE, NULL},
    {"builtin-move-forward", NONE, NULL},
    {"create-pch", NONE, NULL},
    {"default-device", NONE, NULL},
    {"device-as-default-execution-space", NONE, NULL},
    {"device-float128", NONE, NULL},
    {"device-int128", NONE, NULL},
    {"device-stack-protector", NONE, NULL},
    {"diag-error", NONE, NULL},
    {"diag-suppress", NONE, NULL},
    {"diag-warn", NONE, NULL},
    {"display-error-number", NONE, NULL},
    {"dlink-time-opt", NONE, NULL},
    {"dlto", NONE, NULL},
    {"dopt", NONE, NULL},
    {"err-no", NONE, NULL},
    {"ewp", NONE, NULL},
    {"extensible-whole-program", NONE, NULL},
    {"extra-device-vectorization", NONE, NULL},
    {"fdevice-time-trace", NONE, NULL},
    {"frandom-seed", NONE, NULL},
    {"ftz", NONE, NULL},
    {"gen-opt-lto", NONE, NULL},
    {"gpu-architecture", NONE, NULL},
    {"jump-table-density", NONE, NULL},
    {"jtd", NONE, NULL},
    {"maxrregcount", NONE, NULL},
    {"minimal", NONE, NULL},
    {"modify-stack-limit", NONE, NULL},
    {"no-cache", NONE, NULL},
    {"no-display-error-number", NONE, NULL},
    {"no-err-no", NONE, NULL},
    {"no-source-include", NONE, NULL},
    {"ofast-compile", NONE, NULL},
    {"Ofc", NONE, NULL},
    {"opt-info", NONE, NULL},
    {"optimization-info", NONE, NULL},
    {"pch", NONE, NULL},
    {"pch-dir", NONE, NULL},
    {"pch-messages", NONE, NULL},
    {"pch-verbose", NONE, NULL},
    {"prec-div", NONE, NULL},
    {"prec-sqrt", NONE, NULL},
    {"ptxas-options", NONE, NULL},
    {"Xptxas", NONE, NULL},
    {"rdc", NONE, NULL},
    {"relocatable-device-code", NONE, NULL},
    {"restrict", NONE, NULL},
    {"split-compile", NONE, NULL},
    {"time", NONE, NULL},
    {"use-pch", NONE, NULL},
    {"version-ident", NONE, NULL},
};

/* The destinations of options. */
typedef struct target {
    ga__strbuf *words, *lines;
} target;

static void add_word(target to, const char *prefix, const char *value)
{
    ga__strbuf_add(to.words, prefix);
    ga__strbuf_add_bytes(to.words, value, strlen(value) + 1);
}

/* Adds the words of a text, which blanks separate. */
static void add_words(target to, const char *text)
{
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, " ");
        ga__strbuf_add_bytes(to.words, text, length);
        ga__strbuf_add_bytes(to.words, "", 1);
        text += length + (text[length] == ' ');
    }
}

/* Adds a definition NAME, NAME=TEXT or NAME(X)=TEXT, which replaces any previous one. */
static void add_definition(target to, const char *value)
{
    const int name = (int)strcspn(value, "=("), head = (int)strcspn(value, "=");
    ga__strbuf_addf(to.lines, "#undef %.*s\n", name, value);
    ga__strbuf_addf(to.lines, "#define %.*s %s\n", head, value,
                    value[head] == '=' ? value + head + 1 : "1");
}

/* The simulator's own text needs C++17, which is almost a superset of the older standards. */
static void add_standard(target to, const char *value)
{
    static const char *const older[] = {"c++03", "c++11", "c++14"};
    const char *standard = value;
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        if (strcmp(value, older[i]) == 0)
            standard = "c++17";
    }
    add_word(to, "-std=", standard);
}

static const struct option *find_option(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
            return &options[i];
    }
    return NULL;
}

static void add_option(target to, const struct option *o, const char *value)
{
    switch (o->use) {
    case NONE: add_words(to, o->host); break;
    case DEFINED: add_definition(to, value); break;
    case UNDEFINED: ga__strbuf_addf(to.lines, "#undef %s\n", value); break;
    case INCLUDED: ga__strbuf_addf(to.lines, "#include \"%s\"\n", value); break;
    case SEARCHED: add_word(to, "-I", value); break;
    case STANDARD: add_standard(to, value); break;
    case FMAD: add_words(to, strcmp(value, "false") == 0 ? "-ffp-contract=off" : NULL); break;
    }
}

static bool is_short(const char *option)
{
    return option[0] == '-' && option[1] != '\0' && strchr("DUI", option[1]) != NULL;
}

/* Translates one option, whose value follows it or is the next word. Returns the number of words
 * used, or 0 if there is no such option. */
static int translate(const char *const *list, target to)
{
    const char *name = list[0] + strspn(list[0], "-"), *next = list[1];
    const size_t length = is_short(list[0]) ? 1 : strcspn(name, "=");
    const struct option *o = name == list[0] ? NULL : find_option(name, length);
    if (o == NULL)
        return 0;
    const char *value = name + length + (name[length] == '=');
    const bool separate = name[length] == '\0' && next != NULL && next[0] != '-';
    if (separate)
        value = next;
    add_option(to, o, value + strspn(value, " "));
    return separate ? 2 : 1;
}

ga_status ga__simt_options(const ga__cuda_source *source, ga__strbuf *words, ga__strbuf *lines)
{
    const target to = {words, lines};
    const char *const *option = source->options;
    while (option != NULL && *option != NULL) {
        const int used = translate(option, to);
        if (used == 0)
            return ga__fail(GA_ERR_INVALID, "%s: unknown compiler option \"%s\"", source->name,
                            *option);
        option += used;
    }
    return words->failed || lines->failed ? GA_ERR_MEMORY : GA_OK;
}

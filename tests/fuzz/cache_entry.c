/* Fuzz target: any bytes as an entry of the cache on disk; only stored code is loaded. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/system.h"
#include "jit/cache_disk.h"

static const char key[] = "key";
static char entry[4096];

static void note_entry(const char *name, int64_t bytes, int64_t used, const char *start, void *user)
{
    (void)bytes, (void)used, (void)start;
    snprintf(entry, sizeof entry, "%s/%s", (const char *)user, name);
}

static void remove_folder(void)
{
    unlink(entry);
    rmdir(getenv("QUARRY_CACHE_DIR"));
}

/* Stores an entry to learn its file's name. */
static void start(void)
{
    char *folder = ga__make_temporary_directory();
    FUZZ_CHECK(folder != NULL);
    setenv("QUARRY_CACHE_DIR", folder, 1);
    ga__disk_cache_put(key, sizeof key, "code", 4);
    ga__disk_cache_list(note_entry, folder);
    ga__free(folder);
    FUZZ_CHECK(*entry);
    atexit(remove_folder);
}

/* Storing the loaded code writes the same file, byte for byte. */
static void check_genuine(const void *code, size_t nbytes, const uint8_t *data, size_t size)
{
    size_t length = 0;
    ga__disk_cache_put(key, sizeof key, code, nbytes);
    char *stored = ga__read_file(entry, &length);
    FUZZ_CHECK(stored != NULL && length == size && memcmp(stored, data, size) == 0);
    ga__free(stored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void *code = NULL;
    size_t nbytes = 0;
    if (!*entry)
        start();
    FUZZ_CHECK(ga__write_file(entry, data, size) == GA_OK);
    if (ga__disk_cache_get(key, sizeof key, &code, &nbytes)) {
        check_genuine(code, nbytes, data, size);
        ga__free(code);
    }
    FUZZ_CHECK(ga_error() == GA_OK);
    return 0;
}

/* Gives a fuzz target every file of the given folders, once: without libFuzzer, in every build. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/os/system.h"

/* In a block of exactly its size, as libFuzzer does. */
static void replay_file(const char *path)
{
    size_t nbytes = 0;
    char *text = ga__read_file(path, &nbytes);
    uint8_t *data = malloc(nbytes);
    FUZZ_CHECK(text != NULL && (data != NULL || nbytes == 0));
    if (nbytes > 0)
        memcpy(data, text, nbytes);
    ga__free(text);
    printf("%s\n", path);
    fflush(stdout); /* the last line names the file at fault */
    LLVMFuzzerTestOneInput(data, nbytes);
    free(data);
}

static int replay_folder(const char *folder)
{
    char path[4096];
    int files = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *item; stream && (item = readdir(stream)) != NULL;) {
        if (item->d_type == DT_DIR)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        replay_file(path);
        files++;
    }
    if (stream)
        closedir(stream);
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++)
        files += replay_folder(argv[i]);
    printf("%d files\n", files);
    return files == 0; /* a missing corpus is an error */
}

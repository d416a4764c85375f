/* Recognizes machine code of CUDA devices. */
#include "device/code.h"

#include <elf.h>
#include <string.h>

static bool is_cubin(const void *code, size_t nbytes)
{
    Elf64_Ehdr header;
    if (nbytes < sizeof header)
        return false;
    memcpy(&header, code, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_machine == EM_CUDA &&
           header.e_shoff <= nbytes &&
           (size_t)header.e_shnum * header.e_shentsize <= nbytes - header.e_shoff;
}

static bool is_fatbin(const void *code, size_t nbytes)
{
    static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
    const size_t header = 16;
    return nbytes >= header && memcmp(code, magic, sizeof magic) == 0;
}

static bool is_ptx(const void *code, size_t nbytes)
{
    return memmem(code, nbytes, ".version", strlen(".version")) &&
           memmem(code, nbytes, ".target", strlen(".target")) && !memchr(code, '\0', nbytes);
}

bool ga__is_device_code(const void *code, size_t nbytes)
{
    return is_cubin(code, nbytes) || is_fatbin(code, nbytes) || is_ptx(code, nbytes);
}

/* Tells machine code of CUDA devices from other bytes. */
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

bool ga__is_device_code(const void *code, size_t nbytes)
{
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
    return is_cubin(code, nbytes) || (nbytes > 4 && memcmp(code, fatbin, 4) == 0) ||
           memmem(code, nbytes, ".version", strlen(".version"));
}

/* Readbacks: slots in pinned memory, with a tag for each use of a slot. */
#include "device/readback.h"

#include <string.h>

#include "base/error.h"
#include "base/os/system.h"

/* A result's slot is the remainder of its tag; slots have no owners. If the tags of two results
 * share a slot, the later result is found, and the other one is copied from the device. */
#define SLOTS 4096
#define WORDS (GA__READBACK_BYTES / sizeof(uint32_t))
#define SPIN_SECONDS 200e-6 /* a copy takes 10 microseconds, but lets the thread sleep */

typedef _Atomic uint64_t slot[WORDS];

/* The device's slots, made at first use; NULL if there is no memory for them. */
static slot *slots_of(ga__device *device)
{
    void *made, *none = NULL;
    slot *slots = atomic_load_explicit(&device->readbacks, memory_order_acquire);
    if (slots != NULL)
        return slots;
    const ga__saved_error saved = ga__error_save();
    const ga_status status = device->backend->memory.pin(device, SLOTS * sizeof(slot), &made);
    ga_clear_error();
    ga__error_restore(saved);
    if (status != GA_OK)
        return NULL;
    memset(made, 0, SLOTS * sizeof(slot));
    if (atomic_compare_exchange_strong(&device->readbacks, &none, made))
        return made;
    device->backend->memory.unpin(device, made);
    return none;
}

static bool can_read_back(const ga__stream *stream, const ga__buffer *buffer, size_t nbytes)
{
    return !ga__on_host(stream->device) && stream->graph == NULL && nbytes <= GA__READBACK_BYTES &&
           buffer->give_back == NULL && buffer->graph == NULL &&
           !atomic_load_explicit(&buffer->exposed, memory_order_relaxed);
}

ga__readback ga__readback_begin(ga__stream *stream, ga__buffer *buffer, const void *at,
                                size_t nbytes)
{
    static _Atomic uint32_t tags;
    ga__readback readback = {0, 0};
    slot *slots = can_read_back(stream, buffer, nbytes) ? slots_of(stream->device) : NULL;
    if (slots == NULL)
        return readback;
    while (readback.tag == 0)
        readback.tag = atomic_fetch_add_explicit(&tags, 1, memory_order_relaxed) + 1;
    readback.address = (uint64_t)(uintptr_t)slots[readback.tag % SLOTS];
    buffer->readback_at = at;
    buffer->readback_bytes = nbytes;
    atomic_store_explicit(&buffer->tag, readback.tag, memory_order_release);
    return readback;
}

/* Whether all the words have the tag; if so, their lower halves are the result. */
static bool fetch(slot *from, uint32_t tag, uint32_t *words, size_t nwords)
{
    for (size_t k = 0; k < nwords; k++) {
        const uint64_t word = atomic_load_explicit(&(*from)[k], memory_order_relaxed);
        if (word >> 32 != tag)
            return false;
        words[k] = (uint32_t)word;
    }
    return true;
}

bool ga__readback_read(const ga__buffer *buffer, const void *at, void *to, size_t nbytes)
{
    const uint32_t tag = atomic_load_explicit(&buffer->tag, memory_order_acquire);
    if (tag == 0 || at != buffer->readback_at || nbytes > buffer->readback_bytes ||
        atomic_load_explicit(&buffer->exposed, memory_order_relaxed))
        return false;
    uint32_t words[WORDS];
    slot *from = (slot *)atomic_load_explicit(&buffer->device->readbacks, memory_order_relaxed) +
                 tag % SLOTS;
    const size_t nwords = (nbytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
    bool found = fetch(from, tag, words, nwords);
    if (!found) {
        const double end = ga__now() + SPIN_SECONDS;
        while (!found && ga__now() < end)
            found = fetch(from, tag, words, nwords);
    }
    if (found)
        memcpy(to, words, nbytes);
    return found;
}

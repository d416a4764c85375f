/* Marks ranges through NVTX, whose header finds the profiler by itself. */
#include "base/range.h"

#include <pthread.h>

#include "base/log.h"
#include "base/setting.h"

bool ga__ranges;

#ifdef QUARRY_NVTX
#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain;

static void open_domain(void)
{
    domain = nvtxDomainCreateA("Quarry");
}

void ga__range_push(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                         .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                         .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                         .message.ascii = name ? name : ""};
    pthread_once(&once, open_domain);
    (void)nvtxDomainRangePushEx(domain, &event);
}

void ga__range_pop(void)
{
    (void)nvtxDomainRangePop(domain);
}

void ga__ranges_read(void)
{
    ga__ranges = ga__setting_is("QUARRY_NVTX", "1");
}
#else
void ga__range_push(const char *name)
{
    (void)name;
}

void ga__range_pop(void)
{
}

void ga__ranges_read(void)
{
    if (ga__setting_is("QUARRY_NVTX", "1"))
        ga__log(GA_LOG_ERROR, "QUARRY_NVTX=1 is ignored: the build found no NVTX");
}
#endif

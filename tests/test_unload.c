/* Tests of device/unload.c on a simulated device: code is unloaded once no launch can use it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <quarry.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/stream.h"
#include "device/unload.h"
#include "fake_device.h"
#include "run.h"

static ga__device *const device = &devices[0], *const other = &devices[1];

static int set_up(void **state)
{
    (void)state;
    fake.busy = false;
    fake.unloads = 0;
    return 0;
}

static ga__loaded *load_on(ga__device *on)
{
    ga__loaded *loaded;
    assert_int_equal(ga__load(on, "code", 4, &loaded), GA_OK);
    return loaded;
}

static void unused_code_is_unloaded(void **state)
{
    (void)state;
    const int64_t live = ga__alloc_live();
    ga__unload_sweep();
    ga__unload(NULL);
    ga__loaded *first = load_on(device), *second = load_on(other), *third = load_on(device);
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 0);
    ga__unload(first);
    ga__unload(second);
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 2);
    ga__unload(third);
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 3);
    assert_int_equal(ga__alloc_live(), live);
}

static void code_that_work_may_use_stays(void **state)
{
    (void)state;
    const int64_t live = ga__alloc_live();
    fake.busy = true;
    for (int batch = 0; batch < 3; batch++) {
        ga__unload(load_on(device));
        ga__unload(load_on(other));
        ga__unload_sweep();
    }
    assert_int_equal(fake.unloads, 0);
    fake.busy = false;
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 6);
    assert_int_equal(ga__alloc_live(), live);
}

/* An event is recorded in every stream when code is given up, and freed later. */
static void all_streams_are_waited_for(void **state)
{
    (void)state;
    ga__stream streams[3] = {{0}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(ga__stream_init(&streams[i], device, false), GA_OK);
    fake.recorded = 0;
    ga__unload(load_on(device));
    ga__unload_sweep();
    assert_int_equal(fake.recorded, 4); /* and the device's own */
    assert_int_equal(fake.events, 0);
    assert_int_equal(fake.unloads, 1);
    for (int i = 0; i < 3; i++)
        ga__stream_reset(&streams[i]);
}

/* Code that two devices share goes when both are done with it. */
static void streams_of_all_its_devices_are_waited_for(void **state)
{
    (void)state;
    ga__stream stream = {0};
    assert_int_equal(ga__stream_init(&stream, other, false), GA_OK);
    fake.recorded = 0;
    ga__loaded *loaded = load_on(device);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ga__load_also(i % 2 ? device : other, loaded), GA_OK);
    assert_int_equal(loaded->ndevices, 2);
    ga__unload(loaded);
    ga__unload(load_on(device));
    ga__unload_sweep();
    assert_int_equal(fake.recorded, 3); /* one for each device's own stream, and this one */
    assert_int_equal(fake.events, 0);
    assert_int_equal(fake.unloads, 2);
    ga__stream_reset(&stream);
}

static void nothing_is_lost_when_memory_is_out(void **state)
{
    (void)state;
    const int64_t live = ga__alloc_live();
    ga__loaded *loaded = load_on(device);
    ga__alloc_fail_at(1);
    ga__unload(loaded);
    ga__unload_sweep();
    ga__alloc_fail_at(0);
    assert_int_equal(ga_error(), GA_OK);
    assert_int_equal(fake.unloads, 0);
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 1);
    for (int n = 1; n <= 2; n++) {
        ga__alloc_fail_at(n);
        assert_int_equal(ga__load(device, "code", 4, &loaded), GA_ERR_MEMORY);
        ga__alloc_fail_at(0);
    }
    ga_clear_error();
    assert_int_equal(ga__alloc_live(), live);
}

/* The sweep does not change the thread's own error. */
static void a_sweep_raises_nothing(void **state)
{
    (void)state;
    ga__fail(GA_ERR_SHAPE, "older");
    fake.broken = true;
    ga__unload(load_on(device));
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 0);
    assert_string_equal(ga_error_message(), "older");
    ga_clear_error();
    fake.broken = false;
    ga__unload_sweep();
    assert_int_equal(fake.unloads, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(unused_code_is_unloaded, set_up),
        cmocka_unit_test_setup(code_that_work_may_use_stays, set_up),
        cmocka_unit_test_setup(all_streams_are_waited_for, set_up),
        cmocka_unit_test_setup(streams_of_all_its_devices_are_waited_for, set_up),
        cmocka_unit_test_setup(nothing_is_lost_when_memory_is_out, set_up),
        cmocka_unit_test_setup(a_sweep_raises_nothing, set_up),
    };
    if (!open_fake_devices())
        return 1;
    return run_named_tests(argc, argv, tests, NULL, NULL);
}

/* A program as users of quarry.hpp write it, in C++17 and C++20, run and checked. */
#include <quarry.hpp>

#include <cmath>
#include <cstdio>
#include <type_traits>

using quarry::array;

static_assert(!std::is_copy_constructible<array>::value, "an array only moves");
static_assert(std::is_nothrow_move_constructible<array>::value, "moving does not fail");

static int wrong;

static void check(bool right, const char *what)
{
    if (right)
        return;
    std::fprintf(stderr, "wrong: %s (%s)\n", what, ga_error_message());
    wrong++;
}

static std::size_t used()
{
    ga_memory_stats stats;
    ga_memory_info(nullptr, &stats);
    return stats.used;
}

static void arithmetic()
{
    const float host[] = {1, 2, 3, 4, 5, 6};
    array x(GA_FLOAT32, {2, 3}, host);
    array y = (x + 1) * 2 - x / 2;
    check(y.to_vector<float>() == std::vector<float>({3.5, 5, 6.5, 8, 9.5, 11}), "operators");
    check((-x)["1, ::2"].to_vector<float>() == std::vector<float>({-4, -6}), "slices");
    check(quarry::sum(x).item<double>() == 21, "a sum");
    array rows = quarry::max(x, {1}, true);
    check(rows.shape() == std::vector<std::int64_t>({2, 1}) && rows.length(-1) == 1, "kept axes");
    check(quarry::all(x > 0).item<bool>() && quarry::sum(x == 3).item<int>() == 1, "comparisons");
    x += 1;
    x *= x;
    check(x["0"].to_vector<float>() == std::vector<float>({4, 9, 16}), "in place");
    check(array(ga_sqrt(x)).dtype() == GA_FLOAT32, "functions of quarry.h");
    array i = x.astype(GA_INT32) % 5;
    check((~i & 3)["0, 0"].item<int>() == (~4 & 3), "integers");
    x["1"].assign(7);
    check(quarry::min(x["1"]).item<float>() == 7.0f, "assign");
    check(x.transpose().reshape({6}).copy().size() == 6, "views");
}

static void ownership()
{
    const std::size_t before = used();
    {
        array x(ga_ones(GA_FLOAT32, GA_SHAPE(1000)));
        for (int i = 0; i < 10; i++)
            x = x + 1;
        array y = std::move(x);
        check(x.get() == nullptr && y.get() != nullptr, "moved");
        ga_free(y.release());
        array empty;
        check(empty.ndim() == -1 && empty.shape().empty(), "an empty array");
    }
    check(used() == before, "nothing is left");
}

static void errors()
{
    try {
        array x(ga_ones(GA_FLOAT32, GA_SHAPE(3))), y(ga_ones(GA_FLOAT32, GA_SHAPE(4)));
        array z = x + y;
        check(false, "shapes that do not broadcast");
    } catch (const quarry::error &e) {
        check(e.status() == GA_ERR_SHAPE && ga_error() == GA_OK, "the exception has the error");
    }
}

#if __cplusplus >= 202002L
static void options()
{
    array x(ga_ones(GA_FLOAT32, GA_SHAPE(2, 3)));
    array rows(ga_sum(x, GA_AXIS(1), .keepdims = true));
    check(rows.ndim() == 2, "options as in C");
    array table(ga_arange(GA_FLOAT32, 0, 6, 1));
    array places(ga_searchsorted(table, 3, .side_right = true));
    check(places.item<int>() == 4, "a search's options");
    check(array(ga_interp(9, table.get(), table.get(), .right = GA_V(-1))).item<int>() == -1,
          "the options of lines between points");
    gpuarray *counts = nullptr;
    check(ga_histogram(table.get(), 2, &counts, nullptr, .range = {1, 3}) == GA_OK &&
              quarry::sum(array(counts)).item<int>() == 3,
          "a histogram's options");
    ga_kernel *k = ga_elementwise_kernel(
        "float *x", "x[i] = twice(x[i])", "doubled",
        .preamble = "__device__ float twice(float v) { return 2 * v; }", .fast_math = true);
    check(ga_run(k, x.get()) == GA_OK && quarry::sum(x).item<int>() == 12, "a kernel's options");
    ga_kernel_free(k);
    k = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]", "float *x", "total", .fast_math = true);
    check(array(ga_reduce(k, x.get())).item<int>() == 12, "a reduction's options");
    ga_kernel_free(k);
    array sums(ga_cumsum(x, GA_AXIS(1), .exclusive = true, GA_INITIAL(1)));
    check(sums["0, 2"].item<int>() == 5, "a scan's options");
    gpuarray *inverse = nullptr;
    array values(ga_unique(x, .inverse = &inverse));
    array first(inverse), none(ga_isin(x, values.get(), .invert = true));
    check(first["1, 2"].item<int>() == 0 && !quarry::any(none).item<bool>(), "a set's options");
    array ones(ga_ones(GA_FLOAT64, GA_SHAPE(3, 3))), result(ga_zeros(GA_FLOAT64, GA_SHAPE(3, 3)));
    check(ga_einsum("ij,jk->ik", GA_ARRAYS(ones.get(), ones.get()), .out = result.get()) &&
              ga_tensordot(ones.get(), ones.get(), GA_AXES(0), GA_AXES(1), .out = result.get()) &&
              ga_cross(ones.get(), ones.get(), GA_AXIS(0), .out = ones.get()) &&
              result["1, 1"].item<double>() == 3 && ones["1, 1"].item<double>() == 0,
          "products' options");
    array chosen(ga_compress(x["0"].get(), sums.get(), GA_AXIS(1)));
    check(chosen.ndim() == 2 && ga_size(chosen.get()) == 6, "a selection's options");
    k = ga_scan_kernel(GA_FLOAT32, "float *x", "x[i]", "a+b", "0", "x[i] = item", "prefix",
                       .is_segment_start_expr = "i % 3 == 0");
    check(ga_scan(k, sums.get()) == GA_OK && quarry::max(sums).item<int>() == 9,
          "a custom scan's options");
    ga_kernel_free(k);
    ga_module *m = ga_module_compile("#include \"h.h\"\n"
                                     "__global__ void f(float *x) { x[threadIdx.x] = N + M; }",
                                     .options = "-DN=7", .name = "m",
                                     .headers = GA_HEADERS({"h.h", "#define M 1\n"}));
    check(ga_launch_with(ga_module_kernel(m, "f"), GA_DIM(1), GA_DIM(3),
                         GA_WITH(.shared_bytes = 16), x.get()) == GA_OK,
          "a launch");
    check(x["0"].to_vector<float>() == std::vector<float>({8, 8, 8}), "a module's options");
    ga_module_free(m);
}
#endif

int main()
{
    arithmetic();
    ownership();
    errors();
#if __cplusplus >= 202002L
    options();
#endif
    std::printf("quarry %s: %s\n", ga_version(), wrong ? "wrong" : "right");
    return wrong || ga_error() != GA_OK;
}

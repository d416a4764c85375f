/* How a case of CUB is timed: as quarry-bench times its own. */
#ifndef BENCH_COMPARE_CUB_CASE_H
#define BENCH_COMPARE_CUB_CASE_H

#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "machine.h"

extern const char *cases_wanted;

/* The cases that scan, order, select and count. */
void bench_order(int64_t n);

namespace
{

const machine &gpu = cuda_machine;
const size_t wanted_bytes = (size_t)256 << 20; /* of all sets together: four caches */

void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

bool wanted(const std::string &name)
{
    std::string list = cases_wanted ? cases_wanted : "";

    if (list.empty())
        return true;
    for (size_t from = 0; from <= list.size();) {
        size_t comma = list.find(',', from);
        comma = comma == std::string::npos ? list.size() : comma;
        if (comma > from && name.find(list.substr(from, comma - from)) != std::string::npos)
            return true;
        from = comma + 1;
    }
    return false;
}

/* ---- Timing ---- */

/* One set: up to three inputs or other arrays, the result and CUB's scratch memory. */
struct set {
    void *in[3] = {}, *out = nullptr, *scratch = nullptr;
    size_t scratch_bytes = 0;
    uint32_t seed = 0;
};

struct cub_case {
    std::string name;
    random_kind kind;
    int inputs;
    int64_t n;
    size_t out_bytes;
    std::function<cudaError_t(set &)> run = {}; /* a NULL scratch: only says how much it needs */
    std::function<bool(const set &)> right = {};
    std::function<void(set &)> prepare = {}; /* the other arrays, before the scratch memory */
    bool sorts = false;                      /* its temporary memory is told: */
    size_t more_bytes = 0;                   /* scratch, and these */
};

struct timed_run {
    const cub_case *c;
    set *s;
};

void run_once(void *context)
{
    const timed_run *t = (const timed_run *)context;
    check(t->c->run(*t->s), t->c->name.c_str());
}

/* What it has made stays the caller's when it throws. */
void make_set(set &s, const cub_case &c, int number)
{
    s.seed = 1000u + 10u * (uint32_t)number;
    for (int i = 0; i < c.inputs; i++) {
        check(cudaMalloc(&s.in[i], (size_t)c.n * random_bytes(c.kind)), "memory");
        gpu.fill(s.in[i], c.kind, c.n, s.seed + (uint32_t)i);
    }
    check(cudaMalloc(&s.out, c.out_bytes), "memory");
    if (c.prepare)
        c.prepare(s);
    check(c.run(s), "scratch size");
    check(cudaMalloc(&s.scratch, s.scratch_bytes + 1), "memory");
}

void free_set(set &s)
{
    for (void *memory : {s.in[0], s.in[1], s.in[2], s.out, s.scratch})
        cudaFree(memory);
}

/* The caller's time for one of `count` calls and their end. */
double calls_us(timed_run *t, int count)
{
    check(cudaDeviceSynchronize(), "calls");
    const double start = now_us();
    for (int i = 0; i < count; i++)
        run_once(t);
    check(cudaDeviceSynchronize(), "calls");
    return (now_us() - start) / count;
}

/* As quarry-bench takes it: for one of a hundred, or of as many as take 20 ms. */
double call_us(timed_run *t)
{
    const double count = 20000 / calls_us(t, 1);

    return calls_us(t, count < 1 ? 1 : count < 100 ? (int)count : 100);
}

double time_sets(const cub_case &c, std::vector<set> &sets)
{
    const int count = (int)sets.size(), runs = (SAMPLES + count - 1) / count * count;
    const bool calls = c.name.rfind("call: ", 0) == 0;
    std::vector<double> samples(runs);

    for (set &s : sets)
        check(c.run(s), c.name.c_str());
    for (set &s : sets)
        gpu.poison(s.out, c.out_bytes);
    for (int i = 0; i < runs; i++) {
        timed_run t = {&c, &sets[i % count]};
        samples[i] = calls ? call_us(&t) : gpu.time_us(run_once, &t);
    }
    return median(samples.data(), runs);
}

/* The median in us. Throws when CUDA fails or a result is wrong. */
double measure(const cub_case &c, std::vector<set> &sets)
{
    for (size_t i = 0; i < sets.size(); i++)
        make_set(sets[i], c, (int)i);
    const double us = time_sets(c, sets);
    for (const set &s : sets)
        if (!c.right(s))
            throw std::runtime_error("wrong result");
    return us;
}

void bench(const cub_case &c)
{
    const size_t bytes = (size_t)c.n * random_bytes(c.kind) * c.inputs;
    const size_t needed = (wanted_bytes + bytes - 1) / bytes;
    std::vector<set> sets(needed < 2 ? 2 : needed > 8 ? 8 : needed);

    if (!wanted(c.name))
        return;
    try {
        const double us = measure(c, sets);
        printf("{\"case\": \"%s\", \"us\": %.6g", c.name.c_str(), us);
        if (c.sorts)
            printf(", \"temporary_bytes\": %zu", sets[0].scratch_bytes + c.more_bytes);
        printf("}\n");
    } catch (const std::exception &error) {
        printf("{\"case\": \"%s\", \"reason\": \"%s\"}\n", c.name.c_str(), error.what());
        cudaGetLastError();
    }
    fflush(stdout);
    for (set &s : sets)
        free_set(s);
}

} // namespace

#endif

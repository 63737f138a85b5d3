// SPDX-License-Identifier: Apache-2.0

#include "AllocationCounter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// The allocator's internal names, which remain available when a program defines malloc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static _Atomic uint64_t allocations;

uint64_t allocation_count(void) { return atomic_load_explicit(&allocations, memory_order_relaxed); }

static void count(void) { atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    count();
    return __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
    count();
    return __libc_realloc(block, size);
}

// The linker passes every call of Swift's functions to these (`--wrap` in Package.swift).
extern void *__real_swift_retain(void *object);
extern void *__real_swift_retain_n(void *object, uint32_t count);

static _Atomic bool counts_retains;
static _Atomic uint64_t retains;

static void count_retain(void) {
    if (atomic_load_explicit(&counts_retains, memory_order_relaxed))
        atomic_fetch_add_explicit(&retains, 1, memory_order_relaxed);
}

void *__wrap_swift_retain(void *object) {
    count_retain();
    return __real_swift_retain(object);
}

void *__wrap_swift_retain_n(void *object, uint32_t count) {
    count_retain();
    return __real_swift_retain_n(object, count);
}

void start_counting_retains(void) {
    atomic_store(&retains, 0);
    atomic_store(&counts_retains, true);
}

uint64_t stop_counting_retains(void) {
    atomic_store(&counts_retains, false);
    return atomic_load(&retains);
}

// SPDX-License-Identifier: Apache-2.0

#include "AllocationCounter.h"

#include <stdatomic.h>
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

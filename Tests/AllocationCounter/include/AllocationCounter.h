// SPDX-License-Identifier: Apache-2.0

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// Number of allocations of this process so far.
///
/// Linking the library into a program starts the count.
uint64_t allocation_count(void);

/// Begins to count retains of Swift's objects, which slows each.
void start_counting_retains(void);

/// Number of retains since the count began; ends it.
uint64_t stop_counting_retains(void);

#endif

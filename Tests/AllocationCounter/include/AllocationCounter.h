// SPDX-License-Identifier: Apache-2.0

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// Number of allocations of this process so far.
///
/// Linking the library into a program starts the count.
uint64_t allocation_count(void);

#endif

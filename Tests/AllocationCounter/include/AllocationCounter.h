// SPDX-License-Identifier: Apache-2.0

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdint.h>

/// How often this process has asked for memory. A program that is linked with this counts by being linked with it.
uint64_t allocation_count(void);

#endif

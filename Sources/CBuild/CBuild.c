// SPDX-License-Identifier: Apache-2.0

#include "CBuild.h"

// Defined by Package.swift.
#ifndef COURIER_COMMIT
#define COURIER_COMMIT ""
#endif

const char *code_courier_commit(void) { return COURIER_COMMIT; }

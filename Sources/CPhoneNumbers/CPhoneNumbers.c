// SPDX-License-Identifier: Apache-2.0

#include "CPhoneNumbers.h"

// C23 has #embed; clang knows it in every version of C.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char plans[] = {
#embed "number-plans.txt"
    , '\0'};

const char *phone_numbers_plans(void) { return plans; }

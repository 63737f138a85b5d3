// SPDX-License-Identifier: Apache-2.0

#ifndef C_PHONE_NUMBERS_H
#define C_PHONE_NUMBERS_H

/// The text of number-plans.txt, NUL-terminated.
const char *_Nonnull phone_numbers_plans(void);

#endif

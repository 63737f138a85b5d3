// SPDX-License-Identifier: Apache-2.0

#ifndef PHONE_NUMBER_LIBRARY_H
#define PHONE_NUMBER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What libphonenumber itself says of one number, matching its patterns one by one.
struct PhoneNumberLibraryAnswer {
    /// An enumerator of PhoneNumberUtil::PhoneNumberType.
    int type;

    /// The two-letter region of a number whose type is known, `001` for none, NUL-terminated.
    char region[4];
};

/// Asks the library about a number as it is written: its calling code, and the digits after it, at most 15.
struct PhoneNumberLibraryAnswer phone_number_library_find(int calling_code, const char *_Nonnull national);

/// Writes the library's example number at a place, of any region and type, as its calling code and the digits after it.
///
/// False past the last one.
bool phone_number_library_example(size_t place, int *_Nonnull calling_code, char national[_Nonnull 32]);

#ifdef __cplusplus
}
#endif

#endif

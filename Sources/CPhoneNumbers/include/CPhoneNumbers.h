// SPDX-License-Identifier: Apache-2.0

#ifndef C_PHONE_NUMBERS_H
#define C_PHONE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The kind of line behind a number. Closed: the shim writes no other value.
enum __attribute__((enum_extensibility(closed))) PhoneNumbersType {
    PhoneNumbersTypeUnknown,
    PhoneNumbersTypeMobile,
    PhoneNumbersTypeFixedLine,
    PhoneNumbersTypeFixedLineOrMobile,
    PhoneNumbersTypeTollFree,
    PhoneNumbersTypePremiumRate,
    PhoneNumbersTypeSharedCost,
    PhoneNumbersTypeVoIP,
    PhoneNumbersTypePersonalNumber,
    PhoneNumbersTypePager,
    PhoneNumbersTypeUAN,
    PhoneNumbersTypeVoicemail,
};

enum {
    /// Room for the regions of one calling code: +1 has the most, 25.
    PHONE_NUMBERS_MAX_CANDIDATES = 32
};

/// What libphonenumber's metadata say of one number.
struct PhoneNumbersFacts {
    /// Some region's plan has the number, and the number is written as that plan writes it.
    bool valid;

    enum PhoneNumbersType type;

    /// The two-letter region from the whole number, NUL-terminated.
    ///
    /// Empty when there is none, as for non-geographic codes. A calling code of one region gives that region for an
    /// invalid number too; under a shared one it is empty then.
    char region[3];

    /// How many of `candidates` are filled.
    int candidate_count;

    /// Every region that shares the calling code, sorted, two letters each and NUL-terminated.
    ///
    /// Empty for non-geographic codes.
    char candidates[PHONE_NUMBERS_MAX_CANDIDATES][3];
};

/// Looks one number up; any thread, no I/O.
///
/// `e164` is `+` and 7 to 15 digits, without a NUL; any other bytes give the facts of an unknown number.
/// The first call makes all plans of the metadata, some 20 ms. No exception leaves: on one (out of memory) the answer is
/// false and the facts are those of an unknown number.
bool phone_numbers_find_facts(const char *_Nonnull e164, size_t length, struct PhoneNumbersFacts *_Nonnull facts);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: Apache-2.0

#include "CPhoneNumbers.h"

#include <phonenumbers/logger.h>
#include <phonenumbers/phonenumberutil.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <set>
#include <string>

namespace {

using i18n::phonenumbers::NullLogger;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

constexpr size_t kCallingCodes = 1000;

struct CallingCodeRegions {
    bool is_assigned = false;
    int count = 0;
    char codes[PHONE_NUMBERS_MAX_CANDIDATES][3] = {};
};

/// The library, and the regions of every calling code: read-only once made.
struct Directory {
    const PhoneNumberUtil *library;
    std::array<CallingCodeRegions, kCallingCodes> regions;

    Directory() {
        PhoneNumberUtil *instance = PhoneNumberUtil::GetInstance();
        // The default logger writes to stdout and may name the number.
        instance->SetLogger(new NullLogger());
        library = instance;

        std::set<int> calling_codes;
        library->GetSupportedCallingCodes(&calling_codes);
        for (int calling_code : calling_codes) {
            if (calling_code > 0 && static_cast<size_t>(calling_code) < kCallingCodes) fill(calling_code);
        }
    }

    void fill(int calling_code) {
        std::list<std::string> names;
        library->GetRegionCodesForCountryCallingCode(calling_code, &names);
        names.sort();
        CallingCodeRegions &entry = regions[static_cast<size_t>(calling_code)];
        entry.is_assigned = true;
        for (const std::string &name : names) {
            // "001" stands for no region; three letters do not fit the field either way.
            if (name.size() != 2 || entry.count == PHONE_NUMBERS_MAX_CANDIDATES) continue;
            std::memcpy(entry.codes[entry.count], name.data(), 2);
            entry.count += 1;
        }
    }

    /// Made by the first caller, and never destroyed: a thread may still look up while the process exits.
    static const Directory &shared() {
        static const Directory *directory = new Directory();
        return *directory;
    }
};

bool has_shape(const char *e164, size_t length) {
    if (length < 8 || length > 16 || e164[0] != '+' || e164[1] == '0') return false;
    return std::all_of(e164 + 1, e164 + length, [](char byte) { return byte >= '0' && byte <= '9'; });
}

PhoneNumbersType type_of(PhoneNumberUtil::PhoneNumberType type) {
    switch (type) {
    case PhoneNumberUtil::FIXED_LINE: return PhoneNumbersTypeFixedLine;
    case PhoneNumberUtil::MOBILE: return PhoneNumbersTypeMobile;
    case PhoneNumberUtil::FIXED_LINE_OR_MOBILE: return PhoneNumbersTypeFixedLineOrMobile;
    case PhoneNumberUtil::TOLL_FREE: return PhoneNumbersTypeTollFree;
    case PhoneNumberUtil::PREMIUM_RATE: return PhoneNumbersTypePremiumRate;
    case PhoneNumberUtil::SHARED_COST: return PhoneNumbersTypeSharedCost;
    case PhoneNumberUtil::VOIP: return PhoneNumbersTypeVoIP;
    case PhoneNumberUtil::PERSONAL_NUMBER: return PhoneNumbersTypePersonalNumber;
    case PhoneNumberUtil::PAGER: return PhoneNumbersTypePager;
    case PhoneNumberUtil::UAN: return PhoneNumbersTypeUAN;
    case PhoneNumberUtil::VOICEMAIL: return PhoneNumbersTypeVoicemail;
    case PhoneNumberUtil::UNKNOWN: return PhoneNumbersTypeUnknown;
    }
    return PhoneNumbersTypeUnknown;
}

/// The calling code that the digits begin with, 0 for none; no code begins with another one.
int calling_code_of(const Directory &directory, const char *digits, size_t length) {
    int code = 0;
    for (size_t index = 0; index < std::min<size_t>(length, 3); ++index) {
        code = code * 10 + (digits[index] - '0');
        if (directory.regions[static_cast<size_t>(code)].is_assigned) return code;
    }
    return 0;
}

/// The number as it is written, digit by digit.
///
/// The library's parser would drop a trunk prefix after the calling code (+44 0 7400…). Such a text rings the same phone as
/// the number without it, and must not count as a second recipient: as it is written, no plan has it.
void read(const char *national, size_t length, int calling_code, PhoneNumber *number) {
    unsigned long long value = 0;
    for (size_t index = 0; index < length; ++index) value = value * 10 + static_cast<unsigned>(national[index] - '0');
    number->Clear();
    number->set_country_code(calling_code);
    number->set_national_number(value);
    // A value cannot say how many zeros it begins with.
    size_t zeros = 0;
    while (zeros + 1 < length && national[zeros] == '0') zeros += 1;
    if (zeros > 0) number->set_italian_leading_zero(true);
    if (zeros > 1) number->set_number_of_leading_zeros(static_cast<int>(zeros));
}

/// Whether the digits begin with the prefix of mobile numbers that Mexico has given up, which its plan still knows.
bool has_old_prefix(int calling_code, const char *national) { return calling_code == 52 && national[0] == '1'; }

void find(const char *e164, size_t length, PhoneNumbersFacts *facts) {
    const Directory &directory = Directory::shared();
    const PhoneNumberUtil &library = *directory.library;
    // One of each a thread, so that a lookup allocates little.
    thread_local std::string region;
    thread_local PhoneNumber number;

    const int calling_code = calling_code_of(directory, e164 + 1, length - 1);
    if (calling_code == 0) return;
    const CallingCodeRegions &sharing = directory.regions[static_cast<size_t>(calling_code)];
    facts->candidate_count = sharing.count;
    std::memcpy(facts->candidates, sharing.codes, sizeof facts->candidates);
    if (sharing.count == 1) std::memcpy(facts->region, sharing.codes[0], sizeof facts->region);

    const size_t prefix = calling_code < 10 ? 2 : calling_code < 100 ? 3 : 4;
    if (has_old_prefix(calling_code, e164 + prefix)) return;
    read(e164 + prefix, length - prefix, calling_code, &number);

    // A known type and validity are one question: IsValidNumber asks whether the region's plan knows the type.
    facts->type = type_of(library.GetNumberType(number));
    facts->valid = facts->type != PhoneNumbersTypeUnknown;
    if (!facts->valid || sharing.count < 2) return;

    region.clear();
    library.GetRegionCodeForNumber(number, &region);
    if (region.size() == 2 && region != "ZZ") std::memcpy(facts->region, region.data(), 2);
}

}  // namespace

bool phone_numbers_find_facts(const char *e164, size_t length, struct PhoneNumbersFacts *facts) {
    *facts = PhoneNumbersFacts{};
    if (!has_shape(e164, length)) return true;
    try {
        find(e164, length, facts);
        return true;
    } catch (...) {
        *facts = PhoneNumbersFacts{};
        return false;
    }
}

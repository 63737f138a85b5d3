// SPDX-License-Identifier: Apache-2.0

#include "CPhoneNumbers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <list>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "RegionPlan.h"

namespace i18n {
namespace phonenumbers {

// What the library's own metadata are read from. It exports both, and declares them in no header that is installed.
int metadata_size();
const void *metadata_get();

}  // namespace phonenumbers
}  // namespace i18n

namespace {

using i18n::phonenumbers::PhoneMetadata;
using i18n::phonenumbers::PhoneMetadataCollection;

constexpr size_t kCallingCodes = 1000;

/// A calling code and the regions that share it.
struct CallingCode {
    /// In the order in which a number is looked for: the main region first. Empty for a code that nobody has.
    std::list<RegionPlan> plans;

    /// Sorted, two letters each.
    std::vector<std::string> regions;

    void add(const PhoneMetadata &metadata) {
        metadata.main_country_for_code() ? plans.emplace_front(metadata) : plans.emplace_back(metadata);
        // "001" stands for no region; three letters do not fit the field either way.
        if (metadata.id().size() != 2 || regions.size() == PHONE_NUMBERS_MAX_CANDIDATES) return;
        regions.insert(std::upper_bound(regions.begin(), regions.end(), metadata.id()), metadata.id());
    }
};

/// libphonenumber's metadata by calling code: read-only once made.
struct Directory {
    std::array<CallingCode, kCallingCodes> codes;

    Directory() {
        PhoneMetadataCollection collection;
        if (!collection.ParseFromArray(i18n::phonenumbers::metadata_get(), i18n::phonenumbers::metadata_size())) {
            throw std::runtime_error("the metadata cannot be read");
        }
        for (const PhoneMetadata &metadata : collection.metadata()) {
            const int code = metadata.country_code();
            if (code > 0 && static_cast<size_t>(code) < kCallingCodes) codes[static_cast<size_t>(code)].add(metadata);
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

/// The number of digits of the calling code that a number begins with, 0 for none; no code begins with another one.
size_t find_calling_code(const Directory &directory, const char *digits, size_t length, const CallingCode **found) {
    size_t code = 0;
    for (size_t index = 0; index < std::min<size_t>(length, 3); ++index) {
        code = code * 10 + static_cast<size_t>(digits[index] - '0');
        *found = &directory.codes[code];
        if (!(*found)->plans.empty()) return index + 1;
    }
    return 0;
}

void set_region(PhoneNumbersFacts *facts, const RegionPlan &plan) {
    if (plan.region().size() == 2) std::memcpy(facts->region, plan.region().data(), 2);
}

/// Whether the digits begin with the prefix of mobile numbers that Mexico has given up, which its plan still knows.
bool has_old_prefix(const RegionPlan &plan, const re2::StringPiece &national) {
    return plan.region() == "MX" && national[0] == '1';
}

/// The number is looked up as it is written, digit by digit.
///
/// The library's parser would drop a trunk prefix after the calling code (+44 0 7400…). Such a text rings the same phone as
/// the number without it, and must not count as a second recipient: as it is written, no plan has it.
void find(const char *e164, size_t length, PhoneNumbersFacts *facts) {
    const CallingCode *code = nullptr;
    const size_t prefix = 1 + find_calling_code(Directory::shared(), e164 + 1, length - 1, &code);
    if (prefix == 1) return;
    facts->candidate_count = static_cast<int>(code->regions.size());
    for (size_t place = 0; place < code->regions.size(); ++place) {
        std::memcpy(facts->candidates[place], code->regions[place].data(), 2);
    }
    const re2::StringPiece national(e164 + prefix, length - prefix);
    if (code->plans.size() == 1) {
        const RegionPlan &plan = code->plans.front();
        set_region(facts, plan);
        if (!has_old_prefix(plan, national)) facts->type = plan.type_of(national);
    } else {
        for (const RegionPlan &plan : code->plans) {
            const std::optional<PhoneNumbersType> type = plan.type_of_own(national);
            if (!type) continue;
            facts->type = *type;
            // What its plan does not know may be anybody's.
            if (*type != PhoneNumbersTypeUnknown) set_region(facts, plan);
            break;
        }
    }
    facts->valid = facts->type != PhoneNumbersTypeUnknown;
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

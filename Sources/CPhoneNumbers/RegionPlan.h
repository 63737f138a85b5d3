// SPDX-License-Identifier: Apache-2.0

#ifndef REGION_PLAN_H
#define REGION_PLAN_H

#include <phonenumbers/phonemetadata.pb.h>
#include <re2/set.h>

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "CPhoneNumbers.h"

/// How one region writes its numbers: libphonenumber's patterns, matched by RE2 all in one pass.
///
/// The library would match them one after the other with ICU, and look each up by its text: eighty times the work. Both
/// give the same answers, and the library supports RE2 in ICU's place, so its patterns are RE2's.
class RegionPlan {
public:
    explicit RegionPlan(const i18n::phonenumbers::PhoneMetadata &metadata);

    /// Two letters, or `001` for a calling code of no region.
    const std::string &region() const { return region_; }

    /// The type of a national number, as it is written; unknown where the plan has no such number.
    PhoneNumbersType type_of(const re2::StringPiece &national) const { return type_of(match(national)); }

    /// The same under a calling code that regions share; nothing for another region's number.
    ///
    /// It is this one's by the digits that the plan says its numbers begin with, or else by a type that the plan knows.
    std::optional<PhoneNumbersType> type_of_own(const re2::StringPiece &national) const;

private:
    /// What one pattern says of the numbers that it matches, by the library's names.
    enum Kind {
        kGeneral,
        kPremiumRate,
        kTollFree,
        kSharedCost,
        kVoIP,
        kPersonalNumber,
        kPager,
        kUAN,
        kVoicemail,
        kFixedLine,
        kMobile,
        kLeadingDigits,
        kKinds
    };

    using Kinds = std::bitset<kKinds>;
    using Lengths = std::bitset<16>;

    struct Pattern {
        Kind kind;

        /// Those that the numbers may have.
        Lengths lengths;
    };

    void add(const i18n::phonenumbers::PhoneNumberDesc &description, Kind kind);
    void add(const std::string &pattern, Pattern entry);
    Kinds match(const re2::StringPiece &national) const;
    PhoneNumbersType type_of(const Kinds &kinds) const;

    std::string region_;

    /// Fixed lines and mobile phones cannot be told apart.
    bool has_one_pattern_for_both_;
    bool has_leading_digits_;
    re2::RE2::Set set_;

    /// By their places in the set.
    std::vector<Pattern> patterns_;
};

#endif

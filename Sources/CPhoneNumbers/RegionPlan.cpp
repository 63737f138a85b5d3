// SPDX-License-Identifier: Apache-2.0

#include "RegionPlan.h"

#include <stdexcept>

using i18n::phonenumbers::PhoneMetadata;
using i18n::phonenumbers::PhoneNumberDesc;
using re2::RE2;
using re2::StringPiece;

namespace {

RE2::Options options() {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    options.set_never_capture(true);
    return options;
}

}  // namespace

RegionPlan::RegionPlan(const PhoneMetadata &metadata)
    : region_(metadata.id()),
      has_one_pattern_for_both_(metadata.same_mobile_and_fixed_line_pattern()),
      has_leading_digits_(metadata.has_leading_digits()),
      set_(options(), RE2::ANCHOR_BOTH) {
    add(metadata.general_desc(), kGeneral);
    add(metadata.premium_rate(), kPremiumRate);
    add(metadata.toll_free(), kTollFree);
    add(metadata.shared_cost(), kSharedCost);
    add(metadata.voip(), kVoIP);
    add(metadata.personal_number(), kPersonalNumber);
    add(metadata.pager(), kPager);
    add(metadata.uan(), kUAN);
    add(metadata.voicemail(), kVoicemail);
    add(metadata.fixed_line(), kFixedLine);
    add(metadata.mobile(), kMobile);
    if (has_leading_digits_) add("(?:" + metadata.leading_digits() + ").*", {kLeadingDigits, Lengths().set()});
    if (!set_.Compile()) throw std::runtime_error("a plan is too large");
}

/// A description without a pattern describes no number, and one without lengths has those of the general one.
void RegionPlan::add(const PhoneNumberDesc &description, Kind kind) {
    if (description.national_number_pattern().empty()) return;
    Lengths lengths;
    for (int length : description.possible_length()) {
        if (length >= 0 && static_cast<size_t>(length) < lengths.size()) lengths.set(static_cast<size_t>(length));
    }
    if (description.possible_length_size() == 0) lengths.set();
    add(description.national_number_pattern(), {kind, lengths});
}

void RegionPlan::add(const std::string &pattern, Pattern entry) {
    if (set_.Add(pattern, nullptr) < 0) throw std::runtime_error("a pattern is none");
    patterns_.push_back(entry);
}

std::optional<PhoneNumbersType> RegionPlan::type_of_own(const StringPiece &national) const {
    const Kinds kinds = match(national);
    const PhoneNumbersType type = type_of(kinds);
    const bool is_own = has_leading_digits_ ? kinds[kLeadingDigits] : type != PhoneNumbersTypeUnknown;
    return is_own ? std::optional(type) : std::nullopt;
}

RegionPlan::Kinds RegionPlan::match(const StringPiece &national) const {
    // One a thread, so that a lookup allocates little.
    thread_local std::vector<int> matches;
    RE2::Set::ErrorInfo error;
    Kinds kinds;
    if (!set_.Match(national, &matches, &error)) {
        if (error.kind != RE2::Set::kNoError) throw std::runtime_error("a number cannot be matched");
        return kinds;
    }
    for (int place : matches) {
        const Pattern &pattern = patterns_[static_cast<size_t>(place)];
        if (pattern.lengths[national.size()]) kinds.set(pattern.kind);
    }
    return kinds;
}

/// The library's order (PhoneNumberUtil::GetNumberTypeHelper).
PhoneNumbersType RegionPlan::type_of(const Kinds &kinds) const {
    if (!kinds[kGeneral]) return PhoneNumbersTypeUnknown;
    if (kinds[kPremiumRate]) return PhoneNumbersTypePremiumRate;
    if (kinds[kTollFree]) return PhoneNumbersTypeTollFree;
    if (kinds[kSharedCost]) return PhoneNumbersTypeSharedCost;
    if (kinds[kVoIP]) return PhoneNumbersTypeVoIP;
    if (kinds[kPersonalNumber]) return PhoneNumbersTypePersonalNumber;
    if (kinds[kPager]) return PhoneNumbersTypePager;
    if (kinds[kUAN]) return PhoneNumbersTypeUAN;
    if (kinds[kVoicemail]) return PhoneNumbersTypeVoicemail;
    const bool is_mobile = has_one_pattern_for_both_ || kinds[kMobile];
    if (kinds[kFixedLine]) return is_mobile ? PhoneNumbersTypeFixedLineOrMobile : PhoneNumbersTypeFixedLine;
    return kinds[kMobile] && !has_one_pattern_for_both_ ? PhoneNumbersTypeMobile : PhoneNumbersTypeUnknown;
}

// SPDX-License-Identifier: Apache-2.0

#include "PhoneNumberLibrary.h"

#include <phonenumbers/logger.h>
#include <phonenumbers/phonenumberutil.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

using i18n::phonenumbers::NullLogger;
using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;

namespace {

const PhoneNumberUtil &library() {
    static const PhoneNumberUtil *shared = [] {
        PhoneNumberUtil *instance = PhoneNumberUtil::GetInstance();
        instance->SetLogger(new NullLogger());
        return instance;
    }();
    return *shared;
}

std::vector<PhoneNumber> make_examples() {
    std::vector<PhoneNumber> examples;
    std::set<std::string> regions;
    library().GetSupportedRegions(&regions);
    for (const std::string &region : regions) {
        std::set<PhoneNumberUtil::PhoneNumberType> types;
        library().GetSupportedTypesForRegion(region, &types);
        for (PhoneNumberUtil::PhoneNumberType type : types) {
            PhoneNumber example;
            if (library().GetExampleNumberForType(region, type, &example)) examples.push_back(example);
        }
    }
    std::set<int> codes;
    library().GetSupportedGlobalNetworkCallingCodes(&codes);
    for (int code : codes) {
        PhoneNumber example;
        if (library().GetExampleNumberForNonGeoEntity(code, &example)) examples.push_back(example);
    }
    return examples;
}

}  // namespace

struct PhoneNumberLibraryAnswer phone_number_library_find(int calling_code, const char *national) {
    PhoneNumber number;
    number.set_country_code(calling_code);
    number.set_national_number(std::stoull(national));
    const size_t length = std::strlen(national);
    size_t zeros = 0;
    while (zeros + 1 < length && national[zeros] == '0') zeros += 1;
    if (zeros > 0) number.set_italian_leading_zero(true);
    if (zeros > 1) number.set_number_of_leading_zeros(static_cast<int>(zeros));

    PhoneNumberLibraryAnswer answer = {library().GetNumberType(number), ""};
    std::string region;
    library().GetRegionCodeForNumber(number, &region);
    if (answer.type != PhoneNumberUtil::UNKNOWN) region.copy(answer.region, sizeof answer.region - 1);
    return answer;
}

bool phone_number_library_example(size_t place, int *calling_code, char national[32]) {
    static const std::vector<PhoneNumber> *examples = new std::vector<PhoneNumber>(make_examples());
    if (place >= examples->size()) return false;
    const PhoneNumber &example = (*examples)[place];
    std::string digits;
    library().GetNationalSignificantNumber(example, &digits);
    national[digits.copy(national, 31)] = '\0';
    *calling_code = example.country_code();
    return true;
}

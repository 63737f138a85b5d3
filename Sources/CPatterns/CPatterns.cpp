// SPDX-License-Identifier: Apache-2.0

#include "CPatterns.h"

#include <memory>
#include <re2/re2.h>
#include <re2/stringpiece.h>

struct CourierPattern {
    CourierPattern(const re2::StringPiece &expression, const re2::RE2::Options &options) : expression(expression, options) {}
    re2::RE2 expression;
};

namespace {
re2::RE2::Options options() {
    re2::RE2::Options options;
    // A pattern may hold a secret: the configuration alone reports faults, without their text.
    options.set_log_errors(false);
    return options;
}
}  // namespace

CourierPattern *courier_pattern_new(const char *expression, size_t length) {
    try {
        auto pattern = std::make_unique<CourierPattern>(re2::StringPiece(expression, length), options());
        return pattern->expression.ok() ? pattern.release() : nullptr;
    } catch (...) {
        return nullptr;
    }
}

void courier_pattern_free(CourierPattern *pattern) { delete pattern; }

int courier_pattern_search(const CourierPattern *pattern, const char *text, size_t length, size_t *start, size_t *end) {
    re2::StringPiece groups[2];
    const int wanted = pattern->expression.NumberOfCapturingGroups() > 0 ? 2 : 1;
    const re2::StringPiece input(text, length);
    if (!pattern->expression.Match(input, 0, length, re2::RE2::UNANCHORED, groups, wanted)) return 0;
    const re2::StringPiece &word = groups[wanted - 1];
    if (word.data() == nullptr) return 2;
    *start = static_cast<size_t>(word.data() - text);
    *end = *start + word.size();
    return 1;
}

// SPDX-License-Identifier: Apache-2.0

#ifndef CPATTERNS_H
#define CPATTERNS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A compiled regular expression of RE2, which searches in a time that grows with the text alone. */
typedef struct CourierPattern CourierPattern;

/* Compiles an expression in UTF-8; NULL for what is none. */
CourierPattern *courier_pattern_new(const char *expression, size_t length);
void courier_pattern_free(CourierPattern *pattern);

/* Searches a text in UTF-8. Returns 1 where it matches, with the bounds of the first group, or of the whole match where
   the expression has no group; 2 where it matches and that group has no part in it; 0 where it does not match. Safe in
   several threads at once. */
int courier_pattern_search(const CourierPattern *pattern, const char *text, size_t length, size_t *start, size_t *end);

#ifdef __cplusplus
}
#endif

#endif

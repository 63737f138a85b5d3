// SPDX-License-Identifier: Apache-2.0

#ifndef CBUILD_H
#define CBUILD_H

/// The commit that the program was built from, by COURIER_COMMIT of the build's environment; empty without it.
const char *_Nonnull code_courier_commit(void);

#endif

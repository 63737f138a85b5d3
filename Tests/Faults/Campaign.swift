// SPDX-License-Identifier: Apache-2.0

import Testing

/// What a fleet does under faults; one scenario after the other, since each keeps the machine busy.
@Suite(.serialized) enum Campaign {}

// SPDX-License-Identifier: Apache-2.0

/// The digits of escaped bytes, in forms as in mail.
let upperHexDigits = Array("0123456789ABCDEF".utf8)

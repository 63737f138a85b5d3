// SPDX-License-Identifier: Apache-2.0

/// The hex digits for escaped bytes, in forms and in mail.
let upperHexDigits = Array("0123456789ABCDEF".utf8)

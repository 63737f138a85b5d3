// SPDX-License-Identifier: Apache-2.0

import Verification

extension Example {
    /// Numbers that the metadata of 2022 reject, or assign to another type or region.
    static let changed: [Example] = [
        // The example numbers of the changed plans.
        Example("BJ", "+2290195123456", .mobile),
        Example("BJ", "+2290120211234", .fixedLine),
        Example("BO", "+59150123456", .voip),
        Example("CL", "+56600123456", .fixedLine),
        Example("DK", "+4534412345", .mobile),
        Example("GF", "+594890123456", .premiumRate),
        Example("GP", "+590810123456", .premiumRate),
        Example("GY", "+5925151234", .voip),
        Example("MA", "+212528812345", .fixedLine),
        Example("MQ", "+596810123456", .premiumRate),
        Example("MU", "+2302190123", .pager),
        Example("PM", "+508810123456", .premiumRate),
        Example("RE", "+262939901234", .voip),
        Example("SC", "+2488512345", .premiumRate),
        Example("SR", "+5978012345", .tollFree),
        Example("SR", "+5979012345", .premiumRate),
        Example("UY", "+59821123", .uan),
        Example("WF", "+681921234", .voip),
        Example("YT", "+262939801234", .voip),

        // Subscriber numbers from ranges assigned since then.
        Example("AU", "+61483700000", .mobile),
        Example("CA", "+12572000000", .fixedLineOrMobile),
        Example("CA", "+12732000000", .fixedLineOrMobile),
        Example("CH", "+41680000000", .mobile),
        Example("DE", "+4915310004034", .mobile),
        Example("EC", "+593930000000", .mobile),
        Example("ET", "+251700201733", .mobile),
        Example("IL", "+972510449844", .mobile),
        Example("MA", "+212723002351", .mobile),
        Example("MA", "+212730000000", .mobile),
        Example("SA", "+966574020882", .mobile),
        Example("TR", "+905822000000", .mobile),
        Example("UA", "+380790108231", .mobile),
        Example("UG", "+256721003017", .mobile),
        Example("UG", "+256734000000", .mobile),
        Example("US", "+19832000000", .fixedLineOrMobile),
        Example("VN", "+84140000000", .mobile),
    ]
}

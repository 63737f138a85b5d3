// SPDX-License-Identifier: Apache-2.0

import Verification

extension Example {
    /// Numbers of calling codes that several regions share; the following digits determine the region.
    static let shared: [Example] = [
        // +1
        Example("US", "+12125550100", .fixedLineOrMobile),
        Example("US", "+16505550123", .fixedLineOrMobile),
        Example("CA", "+14165550123", .fixedLineOrMobile),
        Example("JM", "+18765550123", .mobile),
        Example("PR", "+17875550123", .fixedLineOrMobile),
        Example("DO", "+18092345678", .fixedLineOrMobile),
        Example("BS", "+12423591234", .mobile),
        Example("TT", "+18682911234", .mobile),
        // +7
        Example("RU", "+79161234567", .mobile),
        Example("KZ", "+77012345678", .mobile),
        Example("KZ", "+77272345678", .fixedLine),
        // +44
        Example("GB", "+447400123456", .mobile),
        Example("GB", "+442079460000", .fixedLine),
        Example("GG", "+447781123456", .mobile),
        Example("JE", "+447797712345", .mobile),
        Example("IM", "+441624756789", .fixedLine),
        // +39: the leading zero is part of the number.
        Example("IT", "+390236618300", .fixedLine),
        Example("VA", "+390669812345", .fixedLine),
        Example("IT", "+393123456789", .mobile),
    ]

    /// Numbers of types that most regions lack.
    static let rare: [Example] = [
        Example("DE", "+4918012345", .sharedCost),
        Example("FR", "+33884012345", .sharedCost),
        Example("GB", "+445612345678", .voip),
        Example("FR", "+33912345678", .voip),
        Example("GB", "+447012345678", .personalNumber),
        Example("US", "+15002345678", .personalNumber),
        Example("GB", "+447640123456", .pager),
        Example("DE", "+4916412345", .pager),
        Example("GB", "+445512345678", .uan),
        Example("CH", "+41581234567", .uan),
        Example("DE", "+49177991234567", .voicemail),
        Example("CH", "+41860123456789", .voicemail),
    ]
}

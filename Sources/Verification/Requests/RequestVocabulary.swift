// SPDX-License-Identifier: Apache-2.0

package enum Channel: String, Sendable, Hashable, CaseIterable {
    case sms
    case email
    case apns
}

/// The purpose for which a person proves a recipient.
package enum Purpose: String, Sendable, Hashable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
    case mfaEnrollment = "mfa_enrollment"
    case mfaSignIn = "mfa_sign_in"
    case reauthentication
    case accountLink = "account_link"
    case appVerification = "app_verification"

    /// True if the proof is for a known account, so that the request must name it.
    package var requiresSubject: Bool {
        switch self {
        case .mfaEnrollment, .mfaSignIn, .reauthentication: true
        case .signUp, .signIn, .accountLink, .appVerification: false
        }
    }
}

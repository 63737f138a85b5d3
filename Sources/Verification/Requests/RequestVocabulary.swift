// SPDX-License-Identifier: Apache-2.0

/// By which way a code reaches its recipient.
package enum Channel: String, Sendable, Hashable, CaseIterable {
    case sms
    case email
    case apns
}

/// What a person proves the recipient for.
package enum Purpose: String, Sendable, Hashable, CaseIterable {
    case signUp = "sign_up"
    case signIn = "sign_in"
    case mfaEnrollment = "mfa_enrollment"
    case mfaSignIn = "mfa_sign_in"
    case reauthentication
    case accountLink = "account_link"
    case appVerification = "app_verification"

    /// Whether the proof is for an account that is known already, so that the request must name it.
    package var requiresSubject: Bool {
        switch self {
        case .mfaEnrollment, .mfaSignIn, .reauthentication: true
        case .signUp, .signIn, .accountLink, .appVerification: false
        }
    }
}

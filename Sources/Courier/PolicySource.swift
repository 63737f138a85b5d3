// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The policy in force; a reload replaces it between two batches.
package typealias PolicySource = InForce<Policy>

// SPDX-License-Identifier: Apache-2.0

extension Candidate {
    /// The same with ids that name a shard.
    package func placed(on shard: UInt8) -> Candidate {
        Candidate(
            record: record,
            content: content,
            key: key,
            digest: digest,
            verificationID: VerificationID(verificationID.uuid.placed(on: shard)),
            sendID: SendID(sendID.uuid.placed(on: shard))
        )
    }

    /// What chooses the request's shard, the same whatever the policy says of it.
    ///
    /// The recipient's keyed fingerprint, so that slots and limits of a person are in one place; without a readable
    /// recipient, the request id.
    package func shardHash(keys: CodeKeys) -> UInt64 {
        guard case .request(let request, _) = content else { return key.hash }
        let fingerprint = passed?.slot.fingerprint ?? keys.fingerprint(of: request.recipient)
        return fingerprint.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension RequestKey {
    /// FNV-1a over tenant and request id, which no process seeds differently.
    fileprivate var hash: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for bytes in [tenant.utf8, "/".utf8, requestID.utf8] {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return hash
    }
}

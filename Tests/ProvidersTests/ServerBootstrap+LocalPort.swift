// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix

extension ServerBootstrap {
    /// Serves on a free port of 127.0.0.1 during `body`.
    func withLocalPort<Value>(_ body: (_ port: Int) async throws -> Value) async throws -> Value {
        let channel = try await serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: 0)
            .get()
        do {
            let value = try await body(channel.localAddress?.port ?? 0)
            try await channel.close().get()
            return value
        } catch {
            try? await channel.close().get()
            throw error
        }
    }
}

extension Channel {
    /// Closes with RST: a close with a linger time of zero sends one.
    func reset() {
        guard let options = self as? any SocketOptionProvider else { return close(promise: nil) }
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in self.close(promise: nil) }
    }
}

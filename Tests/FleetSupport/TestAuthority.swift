// SPDX-License-Identifier: Apache-2.0

package import TestTools

/// A certificate authority for one test, and a server certificate for this machine that it has signed.
package struct TestAuthority: Sendable {
    /// The authority's certificate, for clients to trust.
    package let certificatePath: String

    /// In PEM.
    package let serverCertificate: String
    package let serverKey: String

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Issues the server certificate for `servers`, valid for some days from now.
    package init(
        in folder: ScratchFolder,
        name: String = "authority",
        servers: String = "DNS:localhost,IP:127.0.0.1",
        days: Int = 2
    ) async throws {
        let (key, certificate) = (folder["\(name).key"], folder["\(name).crt"])
        let (serverKeyPath, request) = (folder["\(name)-server.key"], folder["\(name)-server.csr"])
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await Self.run(
            ["req", "-x509", "-days", "2", "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate] + newKey,
            folder
        )
        try await Self.run(
            ["req", "-subj", "/CN=localhost", "-addext", "subjectAltName=\(servers)"]
                + ["-keyout", serverKeyPath, "-out", request] + newKey,
            folder
        )
        try await Self.run(
            ["x509", "-req", "-days", String(days), "-copy_extensions", "copy", "-CAcreateserial", "-CA", certificate]
                + ["-CAkey", key, "-in", request, "-out", folder["\(name)-server.crt"]],
            folder
        )
        certificatePath = certificate
        serverCertificate = folder.text(of: "\(name)-server.crt")
        serverKey = folder.text(of: "\(name)-server.key")
    }

    private static func run(_ arguments: [String], _ folder: ScratchFolder) async throws {
        let openssl = try Program(arguments, executable: "/usr/bin/openssl", folder: folder)
        guard try await openssl.exit() == .code(0) else { throw Failure(description: "openssl: \(openssl.errors)") }
    }
}

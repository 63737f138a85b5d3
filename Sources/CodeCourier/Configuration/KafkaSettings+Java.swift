// SPDX-License-Identifier: Apache-2.0

import Glibc

extension KafkaSettings {
    /// The advice for a property of Java's client that librdkafka does not have; nil for any other name.
    static func adviceInPlaceOfJava(_ name: String) -> String? {
        javaProperties[name].map { "is a property of Java's client: \($0)" }
    }

    /// The replacements, from Kafka's documentation of the Java clients and librdkafka's CONFIGURATION.md.
    private static let javaProperties = [
        "ssl.truststore.location": "use ssl.ca.location, a file of certificates in PEM",
        "ssl.truststore.password": "certificates in PEM have none; remove it",
        "ssl.truststore.type": "ssl.ca.location is a file in PEM; remove it",
        "ssl.truststore.certificates": "use ssl.ca.pem",
        "ssl.keystore.type":
            "ssl.keystore.location is PKCS#12; for PEM use ssl.certificate.location and ssl.key.location",
        "ssl.keystore.certificate.chain": "use ssl.certificate.pem or ssl.certificate.location",
        "ssl.keystore.key": "use ssl.key.pem or ssl.key.location",
        "ssl.protocol": "TLS chooses the version; remove it",
        "ssl.enabled.protocols": "TLS chooses the version; remove it",
        "ssl.provider": "OpenSSL is the one there is; remove it",
        "sasl.jaas.config": "use sasl.username and sasl.password",
        "sasl.login.callback.handler.class": "use sasl.oauthbearer.method: oidc and its options",
        "sasl.client.callback.handler.class": "use sasl.oauthbearer.method: oidc and its options",
        "sasl.login.class": "remove it",
        "sasl.kerberos.kinit.cmd.path": "use sasl.kerberos.kinit.cmd",
        "fetch.max.wait.ms": "use fetch.wait.max.ms",
        "max.request.size": "use message.max.bytes",
        "send.buffer.bytes": "use socket.send.buffer.bytes",
        "receive.buffer.bytes": "use socket.receive.buffer.bytes",
        "socket.connection.setup.timeout.max.ms": "use socket.connection.setup.timeout.ms",
        "default.api.timeout.ms": "use socket.timeout.ms",
        "max.poll.records": "use worker.batchSize",
        "buffer.memory": "code-courier bounds what waits to be published; remove it",
        "max.block.ms": "code-courier never waits for room; remove it",
        "key.serializer": "code-courier writes JSON; remove it",
        "value.serializer": "code-courier writes JSON; remove it",
        "key.deserializer": "code-courier reads JSON; remove it",
        "value.deserializer": "code-courier reads JSON; remove it",
        "schema.registry.url": "records need no registry; remove it",
        "interceptor.classes": "remove it",
        "metric.reporters": "figures are in the log; remove it",
        "group.instance.id.prefix": "remove it",
    ]

    /// The options that are paths of files that librdkafka reads at its start.
    private static let fileOptions: Set = [
        "ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.crl.location", "ssl.keystore.location",
        "sasl.kerberos.keytab",
    ]

    /// The fault of an option's path, without the path; nil where there is none.
    ///
    /// `ssl.ca.location` may also be a folder, or `probe`, for which librdkafka searches the usual places.
    static func faultOfFile(_ name: String, _ path: String) -> String? {
        guard fileOptions.contains(name), name != "ssl.ca.location" || path != "probe" else { return nil }
        var status = stat()
        guard stat(path, &status) == 0 else {
            let relative = path.hasPrefix("/") ? "" : "; a relative path begins at the working folder"
            return
                "must name a readable file; it \(errno == ENOENT ? "does not exist" : "cannot be looked at")\(relative)"
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isFolder, name != "ssl.ca.location" { return "must name a readable file; it is a folder" }
        return access(path, R_OK) == 0 ? nil : "must name a readable file; it may not be read"
    }
}

// swift-tools-version: 6.2
import Foundation
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .treatAllWarnings(as: .error),
    // The host's C libraries are of any version: what a newer one deprecates must not end a build.
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

/// The targets that hold C handles: every use of an unsafe pointer is spelt `unsafe`.
let handleSettings = settings + [.strictMemorySafety()]

/// The commit for `--version`, of letters and digits; SwiftPM's own `gitInformation` may be that of an earlier build.
let commit = (Context.environment["COURIER_COMMIT"] ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }

/// Debian's jemalloc, linked where it is installed.
///
/// What one thread of a worker makes another one frees, which costs glibc's allocator a lock: with jemalloc a worker
/// needs a tenth less processor time (`make bench`).
#if arch(arm64)
let jemalloc = "/usr/lib/aarch64-linux-gnu/libjemalloc.so.2"
#else
let jemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"
#endif
let allocator: [LinkerSetting] =
    FileManager.default.fileExists(atPath: jemalloc) ? [.unsafeFlags(["-Xlinker", jemalloc])] : []

/// The packages that only others need, each with one of its products: a build of this commit links the same code next year.
///
/// `deploy/local/check_versions.py` compares what was resolved with the versions here and below.
let pinned: [(url: String, version: Version, product: String)] = [
    ("https://github.com/apple/swift-algorithms.git", "1.2.1", "Algorithms"),
    ("https://github.com/apple/swift-asn1.git", "1.7.0", "SwiftASN1"),
    ("https://github.com/apple/swift-async-algorithms.git", "1.1.5", "AsyncAlgorithms"),
    ("https://github.com/apple/swift-atomics.git", "1.3.1", "Atomics"),
    ("https://github.com/apple/swift-certificates.git", "1.19.3", "X509"),
    ("https://github.com/apple/swift-collections.git", "1.6.0", "Collections"),
    ("https://github.com/apple/swift-distributed-tracing.git", "1.4.1", "Tracing"),
    ("https://github.com/apple/swift-http-structured-headers.git", "1.6.0", "StructuredFieldValues"),
    ("https://github.com/apple/swift-http-types.git", "1.6.0", "HTTPTypes"),
    ("https://github.com/apple/swift-metrics.git", "2.10.1", "Metrics"),
    ("https://github.com/apple/swift-nio-extras.git", "1.34.3", "NIOExtras"),
    ("https://github.com/apple/swift-nio-transport-services.git", "1.26.0", "NIOTransportServices"),
    ("https://github.com/apple/swift-numerics", "1.1.1", "Numerics"),
    ("https://github.com/apple/swift-service-context.git", "1.3.0", "ServiceContextModule"),
    ("https://github.com/apple/swift-system.git", "1.8.1", "SystemPackage"),
]

/// Their products, for a platform that is none of ours: nothing is built or linked, and SwiftPM would warn of a package
/// that no target names.
let pinnedProducts: [Target.Dependency] = pinned.map { pin in
    let name = (pin.url as NSString).lastPathComponent.replacingOccurrences(of: ".git", with: "")
    return .product(name: pin.product, package: name, condition: .when(platforms: [.wasi]))
}

let package = Package(
    name: "code-courier",
    products: [
        .executable(name: "code-courier", targets: ["CodeCourier"]),
        .executable(name: "code-courier-sandbox", targets: ["CodeCourierSandbox"]),
    ],
    dependencies: [
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.1.3"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.2.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.3"),
        .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.44.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.26.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.1"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.33.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.11.0"),

    ] + pinned.map { .package(url: $0.url, exact: $0.version) },
    targets: [
        // C libraries
        .systemLibrary(name: "CLibrdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibidn2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CPatterns", linkerSettings: [.linkedLibrary("re2")]),

        // What the build was told
        .target(
            name: "CBuild",
            dependencies: pinnedProducts,
            cSettings: [.define("COURIER_COMMIT", to: "\"\(commit)\"")]
        ),

        // Texts, pages, SQL and tables, built in as strings
        .plugin(name: "EmbedFiles", capability: .buildTool(), path: "Sources/EmbedFiles"),

        // JSON, text, time, ids and trace contexts: no word of the domain
        .target(name: "Formats", swiftSettings: settings),

        // Pure values and functions, and the ports
        .target(
            name: "Verification",
            dependencies: ["Formats", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings,
            plugins: ["EmbedFiles"]
        ),

        // Owned handles around C libraries
        .target(name: "PinnedThread", swiftSettings: handleSettings),
        .target(name: "KafkaClient", dependencies: ["CLibrdkafka", "PinnedThread"], swiftSettings: handleSettings),
        .target(name: "KafkaTools", dependencies: ["KafkaClient", "PinnedThread"], swiftSettings: handleSettings),
        .target(name: "PostgresClient", dependencies: ["CLibpq", "PinnedThread"], swiftSettings: handleSettings),
        .target(name: "SMTPClient", dependencies: ["CLibcurl"], swiftSettings: handleSettings),
        .target(
            name: "PhoneNumbers",
            dependencies: ["Verification"],
            swiftSettings: settings,
            plugins: ["EmbedFiles"]
        ),

        // What readers of configuration and policy files share: values with their origin, rules, faults
        .target(
            name: "SettingsReading",
            dependencies: ["Formats", "Verification", .product(name: "Yams", package: "Yams")],
            swiftSettings: settings
        ),

        // Adapters of the ports
        .target(
            name: "Logs",
            dependencies: ["Formats", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .target(
            name: "Ledger",
            dependencies: ["Formats", "PostgresClient", "Verification"],
            swiftSettings: settings
        ),
        .target(
            name: "Providers",
            dependencies: [
                "CLibidn2", "CPatterns", "CZlib", "Formats", "Logs", "SMTPClient", "SettingsReading", "Verification",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),

        // The database beside the pipeline: its tables, the checks before it is used, erasure, a verifier
        .target(
            name: "Administration",
            dependencies: [
                "Formats", "Ledger", "PostgresClient", "Verification",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: settings,
            plugins: ["EmbedFiles"]
        ),

        // The pipeline
        .target(
            name: "Courier",
            dependencies: [
                "Formats", "KafkaClient", "Logs", "Verification",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),

        // A Kafka and a gateway in this process, for demonstration and tests
        .target(name: "MockKafka", dependencies: ["CLibrdkafka", "KafkaClient"], swiftSettings: handleSettings),
        .target(
            name: "Sandbox",
            dependencies: [
                "Formats",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings,
            plugins: ["EmbedFiles"]
        ),

        // What workers' logs tell, as a page and on a terminal
        .target(
            name: "LogReading",
            dependencies: ["Formats", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: settings,
            plugins: ["EmbedFiles"]
        ),

        // The command, where parts meet
        .executableTarget(
            name: "CodeCourier",
            dependencies: [
                "Administration", "CBuild", "Courier", "Formats", "KafkaClient", "KafkaTools", "Ledger", "LogReading",
                "Logs", "PhoneNumbers", "PostgresClient", "Providers", "SMTPClient", "SettingsReading",
                "Verification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings,
            linkerSettings: allocator
        ),

        // What shows and tries a worker, and is no part of one
        .executableTarget(
            name: "CodeCourierSandbox",
            dependencies: [
                "Administration", "Formats", "KafkaClient", "KafkaTools", "MockKafka", "PostgresClient", "Sandbox",
                "Verification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),

        // Tests
        .target(
            name: "TestTools",
            dependencies: [
                "PostgresClient",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/TestTools",
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "Administration", "Formats", "Ledger", "Logs", "PostgresClient", "TestTools", "Verification",
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(name: "FormatsTests", dependencies: ["Formats", "TestTools"], swiftSettings: settings),
        .testTarget(
            name: "VerificationTests",
            dependencies: ["Formats", "TestSupport", "TestTools", "Verification"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PhoneNumbersTests",
            dependencies: ["PhoneNumbers", "TestTools", "Verification"],
            exclude: ["number-sample.txt"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LogsTests",
            dependencies: [
                "Formats", "Logs", "TestSupport", "TestTools", "Verification",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "KafkaSupport",
            dependencies: ["CLibrdkafka", "KafkaClient", "KafkaTools"],
            path: "Tests/KafkaSupport",
            swiftSettings: handleSettings
        ),
        .testTarget(
            name: "KafkaClientTests",
            dependencies: ["CLibrdkafka", "KafkaClient", "KafkaSupport", "KafkaTools", "MockKafka", "TestTools"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PostgresClientTests",
            dependencies: ["CLibpq", "PinnedThread", "PostgresClient", "TestTools"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SMTPClientTests",
            dependencies: ["SMTPClient", "TestTools"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LedgerTests",
            dependencies: [
                "Administration", "Formats", "Ledger", "PostgresClient", "TestSupport", "TestTools",
                "Verification",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ProvidersTests",
            dependencies: [
                "Formats", "Logs", "Providers", "SMTPClient", "SettingsReading", "TestSupport", "TestTools",
                "Verification",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LogReadingTests",
            dependencies: [
                "Formats", "LogReading", "TestSupport", "TestTools", "Verification",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "Formats", "Providers", "Sandbox", "TestSupport", "TestTools", "Verification",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CodeCourierTests",
            dependencies: [
                "Administration", "CodeCourier", "Courier", "Formats", "KafkaClient", "KafkaTools", "Logs",
                "MockKafka", "PhoneNumbers", "Providers", "SMTPClient", "SettingsReading", "TestSupport", "TestTools",
                "Verification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CourierTests",
            dependencies: [
                "Courier", "Formats", "KafkaClient", "KafkaTools", "Logs", "MockKafka", "TestSupport", "TestTools",
                "Verification",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FleetSupport",
            dependencies: [
                "Administration", "Formats", "KafkaClient", "KafkaSupport", "KafkaTools", "Logs", "MockKafka",
                "PostgresClient", "Sandbox", "TestSupport", "TestTools", "Verification",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/FleetSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "Integration",
            dependencies: [
                "Administration", "CodeCourier", "FleetSupport", "Formats", "KafkaClient", "KafkaTools", "Ledger",
                "MockKafka",
                "PostgresClient", "Sandbox", "TestSupport", "TestTools", "Verification",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "Faults",
            dependencies: [
                "CodeCourier", "Courier", "FleetSupport", "Formats", "KafkaClient", "KafkaSupport", "Ledger", "Logs",
                "MockKafka", "PostgresClient", "Providers", "Sandbox", "TestSupport", "TestTools", "Verification",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
        .systemLibrary(name: "CEpoll", path: "Tests/CEpoll"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "AllocationCounter", "CEpoll", "Formats", "Ledger", "PhoneNumbers", "PostgresClient",
                "Verification",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Benchmarks",
            exclude: ["bench"],
            swiftSettings: settings,
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--wrap=swift_retain", "-Xlinker", "--wrap=swift_retain_n"])
            ]
        ),
    ]
)

/// With COURIER_SUITES, names by commas, the package has only those targets of tests and what they need: the build with
/// AddressSanitizer is one of the boundaries to C.
if let suites = Context.environment["COURIER_SUITES"] {
    var needed: Set<String> = []
    func keep(_ name: String) {
        guard let target = package.targets.first(where: { $0.name == name }), needed.insert(name).inserted else {
            return
        }
        for case .byNameItem(let name, _) in target.dependencies { keep(name) }
        for case .plugin(let name, _) in target.plugins ?? [] { keep(name) }
    }
    for suite in suites.split(separator: ",") { keep(String(suite)) }
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}

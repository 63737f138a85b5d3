// SPDX-License-Identifier: Apache-2.0

extension KafkaProducer {
    /// Serves the client until `close(within:)` is called or the task is cancelled.
    ///
    /// Returns only when the producer is closed. A call after `close` returns at once. A call while another one serves
    /// throws `.state`. Throws, too, when a client with a fatal error cannot be replaced.
    nonisolated package func run() async throws(KafkaError) {
        try await poll()
    }

    /// Accepts no more records, writes the remaining ones, and frees the client.
    ///
    /// Records without a result at the limit are reported as failed with `.purged`; they may be written nevertheless.
    package func close(within limit: Duration) async {
        await end(within: limit)
    }

    /// Passes records to the client until its queue is full; after a fatal error they wait for the next client.
    func handOver() {
        guard !isBroken else { return }
        while let (record, token) = backlog.next {
            do {
                try handle?.produce(record, token: token)
                backlog.advance()
            } catch {
                if error.code == .queueFull { return }
                if error.code == .fatal { return noteFatalError() }
                backlog.advance()
                settle(token, .failed(error))
            }
        }
    }

    func start() {}

    /// Performs one round of work; false when the producer is closed.
    func serveOnce(after start: Int) -> Bool {
        switch life.phase {
        case .idle: return true
        case .closed: return false
        case .running: break
        case .closing(let deadline): if backlog.isEmpty || ContinuousClock.now >= deadline { return finish() }
        }
        if isBroken, ContinuousClock.now >= madeAt + Self.shortestLife { replaceClient() }
        handOver()
        pollEvents(after: start)
        countPartitions()
        checkTopics()
        return true
    }

    private func pollEvents(after start: Int) {
        var count = 0
        while count < 100, let event = handle?.poll(.zero) {
            handleEvent(event)
            count += 1
        }
        guard count == 0, !loop.wakeups.hasOthers(since: start) else { return }
        let limit: Duration = backlog.hasWaiting ? .milliseconds(10) : .milliseconds(100)
        if let event = handle?.poll(limit) { handleEvent(event) }
    }

    private func handleEvent(_ event: borrowing ClientEvent) {
        switch event.kind {
        case .delivery:
            event.forEachMessage { message in
                if let error = message.error {
                    settle(message.token, .failed(explained(error, message)))
                } else {
                    connectionFault = nil
                    if let topic = backlog.destination(of: message.token)?.topic {
                        trouble.clear(topic, message.partition)
                        partitions.noteDelivery(to: message.partition, of: topic)
                    }
                    settle(message.token, .delivered(partition: message.partition, offset: message.offset))
                }
            }
        case .error:
            guard let error = event.error else { return }
            if error.isFatal { return noteFatalError() }
            if error.broker != nil { connectionFault = error }
        case .record, .rebalance, .commit, .statistics, .other:
            break
        }
    }

    /// Adds the place to a record's error, and the cause when the client reports only a timeout.
    private func explained(_ error: KafkaError, _ message: borrowing ClientMessage) -> KafkaError {
        let error = fatalError ?? error
        guard let destination = backlog.destination(of: message.token) else { return error }
        return error.explained(by: trouble.cause(of: destination)).explained(by: connectionFault)
            .at(topic: destination.topic, partition: message.partition)
    }

    /// Queries the number of partitions of a topic that is not counted yet.
    private func countPartitions() {
        guard let topic = partitions.uncounted(at: .now) else { return }
        // Repeated later; the outage of a broker is reported elsewhere.
        guard let count = try? handle?.partitionCount(of: topic, within: Self.questionLimit) else { return }
        partitions.note(count, of: topic)
    }

    /// Queries brokers about topics whose records wait for too long.
    private func checkTopics() {
        let now = ContinuousClock.now
        guard now >= lookedAt + .seconds(1) else { return }
        lookedAt = now
        for (topic, destinations) in trouble.suspects(backlog.oldest, at: now) {
            let causes = handle?.obstacles(to: destinations, of: topic, within: Self.questionLimit) ?? [:]
            for (destination, cause) in causes {
                let cause = cause.explained(by: connectionFault)
                trouble.note(cause, of: destination)
                noticeSink.yield(.stuck(cause))
            }
        }
    }

    /// Time limit for the brokers' answer: nothing is produced meanwhile.
    private static let questionLimit = Duration.milliseconds(500)

    private func settle(_ token: Int, _ result: DeliveryResult) {
        if let answer = backlog.finish(token) { answer(result) }
    }

    /// Handles a fatal error: another client replaces this one, at once if it has existed for a while.
    ///
    /// All records without a result fail, even those that the client never got: written by the next client, they would
    /// precede failed records of the same key, which the caller sends again.
    private func noteFatalError() {
        guard !isBroken else { return }
        isBroken = true
        while let event = handle?.poll(.zero) {
            handleEvent(event)
        }
        failAll(fatalError ?? KafkaError(.fatal, isRetriable: true))
    }

    /// The client's fatal error, as a retriable one: the next client can write its records.
    private var fatalError: KafkaError? {
        handle?.fatalError.map { KafkaError($0, isRetriable: true) }
    }

    private func replaceClient() {
        isBroken = false
        madeAt = .now
        dropClient()
        do {
            let handle = try ClientHandle(.producer, settings: settings)
            loop.attach(handle)
            self.handle = consume handle
        } catch {
            life.failure = error
            life.phase = .closing(deadline: .now)
        }
    }

    private func failAll(_ error: KafkaError) {
        for answer in backlog.finishAll() { answer(.failed(error)) }
    }

    private func dropClient() {
        loop.detach()
        guard let handle = handle.take() else { return }
        handle.purge()
        // A client that does not end in time continues in the background.
        _ = handle.close(within: ClientLife.destructionLimit)
    }

    private func finish() -> Bool {
        failAll(KafkaError(.purged))
        dropClient()
        noticeSink.finish()
        return finishClosing()
    }
}

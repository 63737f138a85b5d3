// SPDX-License-Identifier: Apache-2.0

import CLibpq
import Testing

@testable import PostgresClient

struct RoundTripTests {
    /// An empty result that libpq creates itself; an error result of this kind has no SQLSTATE.
    private func result(_ status: ExecStatusType) throws -> ResultHandle {
        ResultHandle(adopting: try #require(PQmakeEmptyPGresult(nil, status)))
    }

    private func code(_ trip: RoundTrip) -> PostgresError.Code? {
        do throws(PostgresError) {
            _ = try trip.outcome()
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `a loss after COMMIT was answered is a success`() throws {
        for status in [nil, PGRES_FATAL_ERROR] {
            var trip = RoundTrip(expecting: 2, durability: .atLastStatement)
            trip.decisiveMessageLeaves()
            for _ in 0..<2 {
                trip.receive(try result(PGRES_COMMAND_OK))
                trip.receive(nil)
            }
            if let status { trip.receive(try result(status)) } else { trip.lose() }
            #expect(code(trip) == nil)
            #expect(trip.isConnectionLost, "the connection is not used again")
        }
    }

    @Test func `a loss is ambiguous from the decisive message on, and only then`() {
        for durability in [RoundTrip.Durability.later, .atEnd, .atLastStatement] {
            var early = RoundTrip(expecting: 1, durability: durability)
            early.lose()
            #expect(code(early) == .connectionLost)
            var late = RoundTrip(expecting: 1, durability: durability)
            late.decisiveMessageLeaves()
            late.lose()
            #expect(code(late) == (durability == .later ? .connectionLost : .ambiguousCommit))
        }
    }

    @Test func `answers that never end, and answers that are missing, are an error`() throws {
        var nothing = RoundTrip(expecting: 1, durability: .later)
        for _ in 0..<10 where !nothing.isConnectionLost { nothing.receive(nil) }
        #expect(code(nothing) == .connectionLost)
        var endless = RoundTrip(expecting: 1, durability: .later)
        for _ in 0..<10 where !endless.isConnectionLost { endless.receive(try result(PGRES_COMMAND_OK)) }
        #expect(endless.isConnectionLost && code(endless) != nil)
        var short = RoundTrip(expecting: 2, durability: .later)
        short.receive(try result(PGRES_COMMAND_OK))
        short.receive(nil)
        short.receive(try result(PGRES_PIPELINE_SYNC))
        #expect(short.isComplete && code(short) == .unexpectedResult)
    }
}

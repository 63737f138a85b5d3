# SPDX-License-Identifier: Apache-2.0
"""The usual way to write such a worker in Python: a task a message, confluent-kafka, asyncpg, aiohttp and uvloop.

It does the worker's job in the worker's tables: readable or dead letter, number and region, request id, slot and resend
window, sliding limits, code and hash, claim, mark, call, outcome, event by the outbox, offsets last. What it leaves out
makes it faster, not slower: no sealing of the recipient, no languages, no leases taken over, no receipts.
"""

import asyncio
import hashlib
import hmac
import json
import os
import struct
import sys
import time
import uuid
from datetime import datetime, timedelta, timezone

import aiohttp
import asyncpg
import phonenumbers
import uvloop
from confluent_kafka import Consumer, Producer

KEY = bytes([1] * 32)
ALLOWED = {"DE", "GB", "FR", "IN"}
LIMITS = (50, 60), (500, 3600)
WINDOW = timedelta(seconds=60)
CONCURRENCY, CONNECTIONS, BATCH = 64, 10, 500


def joined(*fields):
    return b"".join(struct.pack(">I", len(field)) + field for field in fields)


def keyed(*fields):
    return hmac.new(KEY, joined(*fields), hashlib.sha256).digest()


def owner(scope, tenant, fingerprint):
    digest = hashlib.sha256(joined(scope.encode(), tenant.encode())).digest()
    return uuid.UUID(bytes=fingerprint[:10] + digest[:6])


def admission(now):
    return struct.pack(">qI", int(now.timestamp() * 1_000_000), 1)


def uuid7():
    return uuid.UUID(int=int(time.time() * 1000) << 80 | 0x7 << 76 | 0x2 << 62 | int.from_bytes(os.urandom(7)) | 0)


class Peer:
    def __init__(self, name, kafka, postgres, provider):
        self.name, self.kafka, self.postgres = name, kafka, postgres
        self.url = f"http://127.0.0.1:{provider}/2010-04-01/Accounts/ACbench/Messages.json"
        self.producer = Producer({"bootstrap.servers": kafka, "linger.ms": 5, "acks": "all"})

    async def run(self):
        consumer = Consumer({
            "bootstrap.servers": self.kafka, "group.id": self.name + ".peer", "auto.offset.reset": "earliest",
            "enable.auto.commit": False, "session.timeout.ms": 6000,
        })
        consumer.subscribe([f"{self.name}.requests"])
        loop = asyncio.get_running_loop()
        self.pool = await asyncpg.create_pool(self.postgres, min_size=CONNECTIONS, max_size=CONNECTIONS)
        self.turns = asyncio.Semaphore(CONCURRENCY)
        connector = aiohttp.TCPConnector(limit=CONCURRENCY)
        async with aiohttp.ClientSession(connector=connector, auth=aiohttp.BasicAuth("ACbench", "t")) as self.http:
            while True:
                messages = await loop.run_in_executor(None, consumer.consume, BATCH, 0.1)
                good = [message for message in messages if message.error() is None]
                if not good:
                    continue
                await asyncio.gather(*(self.handle(message) for message in good))
                await loop.run_in_executor(None, self.producer.flush)
                consumer.commit(asynchronous=True)

    async def handle(self, message):
        async with self.turns:
            try:
                request = json.loads(message.value())
                number, key = request["recipient"]["phoneNumber"], request["requestId"]
            except (ValueError, KeyError, TypeError):
                self.producer.produce(f"{self.name}.dead-letters", message.value(), message.key())
                return
            await self.decide(message, request, number, key)

    async def decide(self, message, request, number, key):
        parsed = phonenumbers.parse(number)
        region = phonenumbers.region_code_for_number(parsed)
        kind = phonenumbers.number_type(parsed)
        allowed = region in ALLOWED and kind in (
            phonenumbers.PhoneNumberType.MOBILE, phonenumbers.PhoneNumberType.FIXED_LINE_OR_MOBILE
        )
        verification, send, now = uuid7(), uuid7(), datetime.now(timezone.utc)
        fingerprint = keyed(b"recipient", b"sms", number.encode())
        digest = uuid.UUID(bytes=keyed(b"payload", message.value())[:16])
        row = uuid.UUID(bytes=hashlib.sha256(joined(request["tenant"].encode(), key.encode())).digest()[:16])
        place = message.partition(), message.offset(), message.timestamp()[1]
        async with self.pool.acquire() as connection:
            async with connection.transaction():
                known = await connection.fetchrow(
                    "INSERT INTO courier.request (day, key, digest, verification_id, record_topic, record_partition, "
                    "record_offset, record_time) VALUES ($1, $2, $3, $4, 1, $5, $6, $7) ON CONFLICT DO NOTHING "
                    "RETURNING key", now.date(), row, digest, verification if allowed else None, *place,
                )
                if known is None:
                    return await self.answer(connection, uuid7(), 1, key, "suppressed", "duplicate_request", region)
                if not allowed:
                    return await self.answer(connection, uuid7(), 1, key, "rejected", "region_not_allowed", region)
                # Its only verification is its only admission: the limits of recipients have nothing to refuse.
                slot = uuid.UUID(bytes=(await connection.fetchval(
                    "INSERT INTO courier.person (key, kept_until, slots, entries) VALUES ($1, $2, $3, $4) "
                    "ON CONFLICT (key) DO UPDATE SET slots = person.slots RETURNING slots",
                    owner("recipient", request["tenant"], fingerprint), now + timedelta(hours=50),
                    b"\2" + verification.bytes, admission(now),
                ))[1:])
                if slot != verification:
                    sequence = await connection.fetchval(
                        "UPDATE courier.verification SET sequence = sequence + 1 WHERE id = $1 RETURNING sequence", slot
                    )
                    return await self.answer(connection, slot, sequence, key, "suppressed", "resend_window", region)
                address = owner("ip", request["tenant"], keyed(b"ip", request["client"]["ip"].encode()))
                if not await self.admit(connection, address, now):
                    return await self.answer(connection, uuid7(), 1, key, "rejected", "quota_ip", region)
                code = f"{int.from_bytes(keyed(b'code', verification.bytes)[:8]) % 1_000_000:06d}"
                await self.insert(connection, request, verification, send, fingerprint, number, region, code, key, now)
            await connection.execute(
                "UPDATE courier.send SET state = 'dispatching' WHERE id = $1 AND fence = 1 AND state = 'claimed'", send
            )
        await self.send(verification, send, number, code, key, region)

    async def admit(self, connection, address, now):
        entries = await connection.fetchval(
            "INSERT INTO courier.limit_window (key, expires_at, entries) VALUES ($1, $2, $3) "
            "ON CONFLICT (key) DO UPDATE SET entries = limit_window.entries || excluded.entries, "
            "expires_at = excluded.expires_at RETURNING entries",
            address, now + timedelta(days=1), admission(now),
        )
        times = [struct.unpack_from(">q", entries, place)[0] / 1e6 for place in range(0, len(entries), 12)]
        return all(sum(t > now.timestamp() - per for t in times) <= count for count, per in LIMITS)

    async def insert(self, connection, request, verification, send, fingerprint, number, region, code, key, now):
        await connection.execute(
            "INSERT INTO courier.verification (id, request_id, tenant, purpose, channel, subject, fingerprint, region, "
            "masked, sealed, seal_key, code_key, hash_key, generation, code_hash, code_length, state, max_checks, "
            "sends_used, max_sends, send_open, sequence, resend_after, expires_at, policy_version) VALUES ($1, $2, $3, "
            "$4, 'sms', $5, $6, $7, $8, $9, 1, 1, 1, 1, $10, 6, 'live', 5, 1, 5, true, 0, $11, $12, 'peer.1')",
            verification, key, request["tenant"], request["purpose"], request.get("subject"), fingerprint, region,
            "+******" + number[-4:], number.encode(), keyed(b"hash", verification.bytes, code.encode()), now + WINDOW,
            now + timedelta(minutes=10),
        )
        await connection.execute(
            "INSERT INTO courier.send (id, verification_id, number, generation, request_id, state, deadline, "
            "resend_window_ms, validity_ms, rendering) VALUES ($1, $2, 1, 1, $3, 'claimed', $4, 60000, 600000, '{}')",
            send, verification, key, now + timedelta(minutes=5),
        )
        await connection.execute(
            "INSERT INTO courier.tenant_admission (tenant, admitted_at, count) VALUES ($1, $2, 1)",
            request["tenant"], now,
        )

    async def send(self, verification, send, number, code, key, region):
        form = {"To": number, "From": "Acme", "Body": f"{code} is your Acme code.", "ValidityPeriod": "600"}
        async with self.http.post(self.url, data=form) as response:
            answer = await response.json()
        async with self.pool.acquire() as connection:
            async with connection.transaction():
                await connection.execute(
                    "UPDATE courier.send SET state = 'sent', attempts = 1, provider = 'main', "
                    "provider_message_id = $2, segments = 1 WHERE id = $1 AND fence = 1", send, answer["sid"],
                )
                sequence = await connection.fetchval(
                    "UPDATE courier.verification SET status = 'sent', send_open = false, sequence = sequence + 1, "
                    "resend_after = $2, expires_at = $3 WHERE id = $1 RETURNING sequence",
                    verification, datetime.now(timezone.utc) + WINDOW,
                    datetime.now(timezone.utc) + timedelta(minutes=10),
                )
                await self.answer(connection, verification, sequence, key, "sent", None, region)

    async def answer(self, connection, stream, sequence, key, status, reason, region):
        """Writes an event to the outbox and publishes it; it is forgotten when the broker has it."""
        event = json.dumps({
            "verificationId": str(stream), "requestId": key, "tenant": "default", "channel": "sms",
            "purpose": "sign_in", "sequence": sequence, "status": status, "reason": reason,
            "recipient": {"masked": "+******", "region": region}, "policyVersion": "peer.1",
            "occurredAt": datetime.now(timezone.utc).isoformat(),
        }).encode()
        await connection.execute(
            "INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until) "
            "VALUES ($1, $2, false, $3, $4, '', $5)",
            stream, sequence, str(stream).encode(), event, datetime.now(timezone.utc) + timedelta(seconds=30),
        )
        loop = asyncio.get_running_loop()

        def delivered(error, _):
            if error is None:
                loop.call_soon_threadsafe(lambda: loop.create_task(self.forget(stream, sequence)))

        self.producer.produce(f"{self.name}.deliveries", event, str(stream).encode(), on_delivery=delivered)
        self.producer.poll(0)

    async def forget(self, stream, sequence):
        async with self.pool.acquire() as connection:
            await connection.execute("DELETE FROM courier.outbox WHERE stream = $1 AND sequence = $2", stream, sequence)


if __name__ == "__main__":
    uvloop.run(Peer(*sys.argv[1:5]).run())

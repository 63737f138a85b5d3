# SPDX-License-Identifier: Apache-2.0
"""The load: verification requests as gateways write them, the same ones for the same seed.

85 % are new, 10 % repeat an earlier recipient (a fifth of them the whole request with its id), 3 % are refused, 2 % broken.
Half of the repeats come at once, as the second tap on a button does.
"""

import json
import random

REGIONS = (("+49151", 8), ("+447400", 6), ("+336", 8), ("+9198", 8))
FIRST = {"+49151": 23_000_000, "+447400": 100_000, "+336": 12_000_000, "+9198": 76_000_000}
LANGUAGES = ("en", "de", "fr", "en-IN", "pt-BR")
PLATFORMS = ("ios", "android", "web")


def number(index):
    """A mobile number that its numbering plan has; each index has its own, up to three million."""
    prefix, width = REGIONS[index % len(REGIONS)]
    return f"{prefix}{(FIRST[prefix] + index // len(REGIONS)) % 10**width:0{width}d}"


class Load:
    """Requests, one after the other; `kinds` counts what they are."""

    def __init__(self, seed, first_number=0):
        self.random = random.Random(seed)
        self.run = f"{self.random.getrandbits(64):016x}"
        self.next_number = first_number
        self.count = 0
        self.earlier = []
        self.kinds = {"new": 0, "repeated": 0, "refused": 0, "broken": 0}

    def take(self, count):
        """So many records: their key, value and headers."""
        return [self.one() for _ in range(count)]

    def one(self):
        self.count += 1
        draw = self.random.random()
        if draw < 0.10 and self.earlier:
            kind, record = "repeated", self.repeat(draw)
        elif draw < 0.13 and draw >= 0.10:
            kind, record = "refused", self.record("+1650253%04d" % self.random.randrange(10_000))
        elif draw < 0.15 and draw >= 0.13:
            kind, record = "broken", (b"?", b'{"requestId": "half a reque', [])
        else:
            kind, record = "new", self.record(number(self.next_number))
            self.next_number += 1
            self.remember(record)
        self.kinds[kind] += 1
        return record

    def repeat(self, draw):
        record = self.earlier[-1] if draw < 0.05 else self.random.choice(self.earlier)
        return record if draw < 0.02 else self.record(record[0].decode())

    def remember(self, record):
        # Repeats come soon: of the last 20,000.
        self.earlier.append(record)
        if len(self.earlier) > 25_000:
            self.earlier = self.earlier[-20_000:]

    def record(self, phone_number):
        request = f"{self.run}-{self.count}"
        chance = self.random
        value = {
            "requestId": request,
            "tenant": "default",
            "channel": "sms",
            "purpose": "sign_in",
            "recipient": {"phoneNumber": phone_number, "confirmed": True},
            "languageCode": chance.choice(LANGUAGES),
            "subject": f"user-{chance.getrandbits(48):012x}",
            "client": {
                "ip": f"10.{chance.randrange(4)}.{chance.randrange(256)}.{chance.randrange(64)}",
                "deviceId": f"{chance.getrandbits(64):016x}",
                "platform": chance.choice(PLATFORMS),
                "userAgent": "Acme/4.2 (build 1871)",
            },
        }
        headers = [
            ("ce_specversion", b"1.0"),
            ("ce_id", request.encode()),
            ("ce_source", b"/gateway"),
            ("ce_type", b"com.codecourier.verification.requested.v1"),
            ("content-type", b"application/json"),
            ("traceparent", f"00-{chance.getrandbits(128):032x}-{chance.getrandbits(64):016x}-01".encode()),
        ]
        return (phone_number.encode(), json.dumps(value).encode(), headers)

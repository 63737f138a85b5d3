#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes test-vectors.json: what codes, hashes, link tokens, push secrets and fingerprints must come out as.

It shares no code with code-courier and uses Python's standard library alone, so that two programs that agree are
likely both right. A verifier in any language proves with the file that it computes the same bytes.

    make_test_vectors.py            writes test-vectors.json
    make_test_vectors.py --check    fails if the file differs from what would be written
"""

import base64
import hashlib
import hmac
import json
import pathlib
import sys
import uuid

FILE = pathlib.Path(__file__).with_name("test-vectors.json")

# The keys are made up for this file from their names; a key in use is random and secret.
KEYS = {
    kind: {key_id: hashlib.sha256(f"code-courier test vector key: {kind} {key_id}".encode()).digest() for key_id in ids}
    for kind, ids in {"code": (1, 2), "hash": (1, 7), "fingerprint": (1, 2)}.items()
}

PURPOSES = (
    "sign_up",
    "sign_in",
    "mfa_enrollment",
    "mfa_sign_in",
    "reauthentication",
    "account_link",
    "app_verification",
)

ABOUT = {
    "about": "Every value here follows from the keys and inputs beside it. Binary values are lower-case hexadecimal, "
    "keys are base64, and ‖ joins fields: each field is its length as 4 bytes big-endian, then its bytes. A literal "
    "tag such as 'code' is a field like any other, without its quotes. A verificationId is its 16 bytes, a generation "
    "and a counter are 4 bytes big-endian, text is UTF-8.",
    "formulas": {
        "joins.joined": "the length of field 1, field 1, the length of field 2, field 2, …",
        "draws.u": "the first 8 bytes, big-endian, of "
        "HMAC-SHA-256(codeKey, 'code' ‖ verificationId ‖ generation ‖ counter)",
        "reductions.code": "null (u is rejected) unless u < 2^64 − (2^64 mod 10^digits); "
        "else u mod 10^digits, with its leading zeros",
        "codes.code": "the reduction of the first u that is not rejected, for counter = 0, 1, …",
        "codes.codeHash": "HMAC-SHA-256(hashKey, 'hash' ‖ verificationId ‖ tenant ‖ purpose ‖ code), "
        "the code as its digits",
        "links.token": "base64url without padding of "
        "HMAC-SHA-256(codeKey, 'link' ‖ verificationId ‖ generation)",
        "links.codeHash": "as codes.codeHash, with the token's 43 characters in place of the code",
        "pushSecrets.token": "base64url without padding of "
        "HMAC-SHA-256(codeKey, 'push' ‖ verificationId ‖ generation)",
        "pushSecrets.codeHash": "as links.codeHash",
        "fingerprints.canonical": "sms: E.164; email: the domain in lower case, the rest as it is; "
        "apns: the device token in lower-case hexadecimal",
        "fingerprints.fingerprint": "HMAC-SHA-256(fingerprintKey, 'recipient' ‖ channel ‖ canonical)",
        "typedCodes.code": "the code in what a person typed, in digits 0 to 9; null where it holds none, or more than "
        "one, of so many digits (null: 4 to 10). Digits with nothing but spaces and dashes between them are one group, "
        "invisible marks apart; a group that a letter with a case touches is none. 43 characters of base64url are a "
        "token, and stay as they are",
    },
}


def join(*fields):
    return b"".join(len(field).to_bytes(4, "big") + field for field in fields)


def mac(kind, key_id, *fields):
    return hmac.new(KEYS[kind][key_id], join(*fields), hashlib.sha256).digest()


def four_bytes(number):
    return number.to_bytes(4, "big")


def verification_id(label):
    """A UUIDv7 that is always the same for a label."""
    made = bytearray(hashlib.sha256(f"verification {label}".encode()).digest()[:16])
    made[0:2] = b"\x01\x93"
    made[6] = made[6] & 0x0F | 0x70
    made[8] = made[8] & 0x3F | 0x80
    return uuid.UUID(bytes=bytes(made))


def draw(key_id, verification, generation, counter):
    fields = (b"code", verification.bytes, four_bytes(generation), four_bytes(counter))
    return int.from_bytes(mac("code", key_id, *fields)[:8], "big")


def reduce(u, digits):
    """The code of a draw, or None for one that would favour low codes."""
    if u >= 2**64 - 2**64 % 10**digits:
        return None
    return str(u % 10**digits).zfill(digits)


def code(key_id, verification, generation, digits):
    counter = 0
    while (found := reduce(draw(key_id, verification, generation, counter), digits)) is None:
        counter += 1
    return counter, found


def code_hash(key_id, verification, tenant, purpose, text):
    return mac("hash", key_id, b"hash", verification.bytes, tenant.encode(), purpose.encode(), text.encode()).hex()


def code_vector(label, code_key=1, hash_key=1, generation=1, tenant="default", purpose="sign_in", digits=6):
    verification = verification_id(label)
    counter, text = code(code_key, verification, generation, digits)
    return {
        "codeKey": code_key,
        "hashKey": hash_key,
        "verificationId": str(verification),
        "generation": generation,
        "tenant": tenant,
        "purpose": purpose,
        "digits": digits,
        "counter": counter,
        "code": text,
        "codeHash": code_hash(hash_key, verification, tenant, purpose, text),
    }


def leading_zero_vector(zeros, digits):
    """The first label whose code begins with that many zeros."""
    attempt = 0
    while not (found := code_vector(f"zeros {zeros} {attempt}", digits=digits))["code"].startswith("0" * zeros):
        attempt += 1
    return found


def code_vectors():
    vectors = [code_vector("purpose", purpose=purpose) for purpose in PURPOSES]
    vectors += [code_vector("length", digits=digits) for digits in range(4, 11)]
    vectors += [code_vector("generation", generation=generation) for generation in (1, 2, 3, 256, 2**31 - 1)]
    vectors += [code_vector("keys", code_key=code_key, hash_key=hash_key) for code_key in (1, 2) for hash_key in (1, 7)]
    vectors += [code_vector("tenant", tenant=tenant) for tenant in ("acme", "ACME", "a.b_c-d", "t" * 64)]
    vectors += [leading_zero_vector(zeros, digits) for zeros, digits in ((1, 6), (2, 6), (3, 8), (2, 4))]
    # A request allows no such tenant; it shows that a length counts bytes of UTF-8, not characters.
    vectors.append(code_vector("tenant", tenant="müller-東京-🔑"))
    return vectors


def draw_vectors():
    verification = verification_id("draws")
    return [
        {
            "codeKey": key_id,
            "verificationId": str(verification),
            "generation": generation,
            "counter": counter,
            "u": f"{draw(key_id, verification, generation, counter):016x}",
        }
        for key_id in (1, 2)
        for generation in (1, 2)
        for counter in (0, 1, 2, 256)
    ]


def reduction_vectors():
    vectors = []
    for digits in range(4, 11):
        limit = 2**64 - 2**64 % 10**digits
        for u in (0, 7, 10**digits - 1, 10**digits, 10**digits + 42, 2**63, limit - 1, limit, limit + 1, 2**64 - 1):
            vectors.append({"u": f"{u:016x}", "digits": digits, "code": reduce(u, digits)})
    return vectors


def token_vectors(tag, purpose):
    vectors = []
    for code_key, hash_key, generation, tenant in ((1, 1, 1, "default"), (1, 1, 2, "default"), (2, 7, 1, "acme")):
        verification = verification_id(f"{tag} token")
        secret = mac("code", code_key, tag.encode(), verification.bytes, four_bytes(generation))
        token = base64.urlsafe_b64encode(secret).decode().rstrip("=")
        vectors.append(
            {
                "codeKey": code_key,
                "hashKey": hash_key,
                "verificationId": str(verification),
                "generation": generation,
                "tenant": tenant,
                "purpose": purpose,
                "token": token,
                "codeHash": code_hash(hash_key, verification, tenant, purpose, token),
            }
        )
    return vectors


def canonical(channel, recipient):
    if channel == "email":
        local, domain = recipient.rsplit("@", 1)
        return f"{local}@{domain.lower()}"
    return recipient.lower() if channel == "apns" else recipient


def fingerprint_vectors():
    recipients = (
        ("sms", "+14155553434"),
        ("sms", "+4915123456789"),
        ("sms", "+882161234567"),
        ("email", "ada@example.com"),
        ("email", "Ada.Lovelace+tag@Mail.EXAMPLE.com"),
        ("apns", "0F" * 32),
        ("apns", "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"),
    )
    vectors = []
    for key_id in (1, 2):
        for channel, recipient in recipients:
            text = canonical(channel, recipient)
            made = mac("fingerprint", key_id, b"recipient", channel.encode(), text.encode()).hex()
            vectors.append(
                {
                    "fingerprintKey": key_id,
                    "channel": channel,
                    "recipient": recipient,
                    "canonical": text,
                    "fingerprint": made,
                }
            )
    return vectors


# The zero of Arabic, Persian, Devanagari, Bengali, Gurmukhi, Thai, Burmese, Khmer and full-width digits.
ZEROS = (0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xE50, 0x1040, 0x17E0, 0xFF10)

# What people type for 123456, or paste.
TYPED = (
    "123456",
    " 123456\r\n",
    "123 456",
    "123-456",
    "12-34-56",
    "1 2 3 4 5 6",
    "123 - 456",
    "123\t456",
    *(f"123{space}456" for space in "\u00a0\u2003\u2009\u200a\u202f\u205f\u3000"),
    *(f"123{dash}456" for dash in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\ufe58\ufe63\uff0d\u30fc\uff70"),
    *(f"123{mark}456" for mark in "\u00ad\u034f\u200b\u200c\u200d\u2060\u3164\ufeff\x00\x08"),
    *(f"{mark}123456{mark}" for mark in "\u200e\u200f\u202a\u202c\u202d\u202e\u2066\u2068\u2069\u061c\ufeff\ufffc"),
    *("".join(chr(zero + digit) for digit in range(1, 7)) for zero in ZEROS),
    "١٢٣ ٤٥٦",
    "𝟏𝟐𝟑𝟒𝟓𝟔",
    "1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e34\ufe0f\u20e35\ufe0f\u20e36\ufe0f\u20e3",
    "G-123456",
    "A: 123456",
    "Code: 123456.",
    "Code:123-456!",
    "«123456»",
    "„123456“",
    "(123456)",
    "#123456",
    "*123456*",
    "123456,",
    "code=123456&x",
    "123456 is your Acme verification code. It expires in 10 min.",
    "Your 2FA code for 1&1 is 123456",
    "7-Eleven: 123456",
    "Booking.com: 123456",
    "123456 is your Acme code.\n\n@accounts.example.com #123456",
    "验证码123456，请勿泄露",
    "認証コードは１２３４５６です",
    "رمزك هو ١٢٣٤٥٦.",
    "आपका कोड १२३४५६ है",
)

# What is surely no code, as it stands or for its number of digits.
NO_CODES = (
    ("", None),
    ("   ", None),
    ("x", None),
    ("abcdef", None),
    ("123", None),
    ("12345678901", None),
    ("12345O", None),
    ("O12345", None),
    ("1234S6", None),
    ("123456a", None),
    ("12З456", None),
    ("123 456b", None),
    ("123456 654321", None),
    ("123456, 654321", None),
    ("123456 or 654321", None),
    ("123456/654321", None),
    ("+14155550123", None),
    ("123.456", None),
    ("①②③④⑤⑥", None),
    ("½½½½", None),
    ("Ⅷ", None),
    ("your code", None),
    ("-_-_-_", None),
    ("12345", 6),
    ("1234567", 6),
    ("123 45", 6),
    ("12345 67890", 6),
    ("1234 5678", 4),
    ("123456", 8),
)


def typed_vectors():
    token = token_vectors("link", "sign_in")[0]["token"]
    same = [(typed, None, "123456") for typed in TYPED]
    known = [(typed, 6, "123456") for typed in ("123456", "123 456, 10 min, 2026", "G-123456")]
    other = [("0000", None, "0000"), ("00123 45678", None, "0012345678")]
    eight = [("1234 5678", digits, "12345678") for digits in (None, 8)]
    tokens = [(typed, digits, token) for typed in (f" {token}\r\n", f"\ufeff{token}\u200b") for digits in (None, 6)]
    none = [(typed, digits, None) for typed, digits in NO_CODES]
    rows = same + known + other + eight + tokens + none
    return [{"typed": typed, "digits": digits, "code": code} for typed, digits, code in rows]


def json_text(value):
    """JSON in which every character can be seen: spaces, marks and controls of other scripts are escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text) + "\n"


def join_vectors():
    lists = ((), ("",), ("a", "bc"), ("ab", "c"), ("", "abc"), ("é", "東京", "🔑"), ("x" * 300,))
    return [
        {"fields": list(fields), "joined": join(*(field.encode() for field in fields)).hex()} for fields in lists
    ]


def document():
    keys = {
        kind: {str(key_id): base64.b64encode(key).decode() for key_id, key in ring.items()}
        for kind, ring in KEYS.items()
    }
    return {
        **ABOUT,
        "keys": keys,
        "joins": join_vectors(),
        "draws": draw_vectors(),
        "reductions": reduction_vectors(),
        "codes": code_vectors(),
        "links": token_vectors("link", "sign_in"),
        "pushSecrets": token_vectors("push", "app_verification"),
        "fingerprints": fingerprint_vectors(),
        "typedCodes": typed_vectors(),
    }


if __name__ == "__main__":
    text = json_text(document())
    if sys.argv[1:] == ["--check"]:
        if not FILE.exists() or FILE.read_text("utf-8") != text:
            sys.exit(f"error: {FILE} is not what {sys.argv[0]} computes")
        print("test vectors: as computed")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        FILE.write_text(text, "utf-8")

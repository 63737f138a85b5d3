#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A verifier: it says whether a code, the token of an e-mail link or the secret of a push is right.

    verifier.py --self-test
    verifier.py --database postgresql://my_verifier@host/courier --hash-keys FILE check VERIFICATION_ID CODE
    verifier.py --database … --hash-keys FILE --fingerprint-keys FILE serve 127.0.0.1:8080
        POST / {"verificationId": "…", "code": "…", "tenant": "default", "purpose": "sign_in",
                "subject": "the account that signs in, where it is known", "email": "for a link"}
        GET /__/auth/links?…   landing.html, the page behind e-mail links

It needs psycopg from PyPI, the role courier_verifier and the key ring keys.hash; for e-mail links keys.fingerprint.
"""
import argparse
import base64
import hmac
import http.server
import json
import pathlib
import re
import unicodedata
import uuid


def mac(key, *fields):
    # each field is its length in 4 bytes and then its bytes
    return hmac.digest(key, b"".join(len(field).to_bytes(4, "big") + field for field in fields), "sha256")


def code_hash(key, verification_id, tenant, purpose, code):
    return mac(key, b"hash", verification_id.bytes, tenant.encode(), purpose.encode(), code.encode())


def shape(character):
    """A digit as 0 to 9, a space for spaces and dashes, nothing for what nobody sees, a for a letter with a case."""
    kind = unicodedata.category(character)
    if kind == "Nd":
        return str(unicodedata.decimal(character))
    if kind == "Pd" or character.isspace() or character in "\u2212\u30fc\uff70\u2500\u02d7\u2043":
        return " "
    if kind in ("Cf", "Cc", "Mn", "Me") or character in "\u115f\u1160\u3164\uffa0\ufffc":
        return ""
    return "a" if kind in ("Lu", "Ll", "Lt") else "."


def typed_code(text, lengths=range(4, 11)):
    """The code in what a person typed, or the token of a link as it is; None where there is no code or more than one.

    Digits with only spaces and dashes between them are one group; one that a letter touches is a slip, such as O for 0.
    """
    around = r"[\s\u200b-\u200f\u2060\ufeff]*"
    if token := re.fullmatch(f"{around}([A-Za-z0-9_-]{{43}}){around}", text):
        return token[1]
    shapes = f".{''.join(map(shape, text))}."
    groups = re.finditer(r"[0-9](?: *[0-9])*", shapes)
    apart = (group[0] for group in groups if "a" not in shapes[group.start() - 1] + shapes[group.end()])
    codes = {code for group in apart if len(code := group.replace(" ", "")) in lengths}
    return codes.pop() if len(codes) == 1 else None


def email_fingerprint(key, address):
    name, _, domain = address.rpartition("@")
    return mac(key, b"recipient", b"email", f"{name}@{domain.lower()}".encode())


def key_ring(path):
    """The keys by id of a file such as 2:base64,1:base64, the active one first; read anew each time."""
    entries = (entry.partition(":") for entry in re.findall(r"[^\s,]+", pathlib.Path(path).read_text("utf-8-sig")))
    return {int(key_id): base64.b64decode(key) for key_id, _, key in entries}


def check(options, verification_id, code, tenant, purpose, email=None, subject=None):
    """Asks the database, which approves a right guess and counts a wrong one.

    Tenant, purpose, subject and e-mail address are those of the person's session with you, never what a link or a form
    says. The database tells the verification's subject whatever the guess was; this tells it only when it was right.
    """
    import psycopg  # here, since --self-test does without

    code = typed_code(code, [options.digits] if options.digits else range(4, 11))
    if code is None:
        return {"status": "not_a_code"}  # the database is not asked: each call there counts as a guess
    verification_id = uuid.UUID(verification_id)
    fingerprint = email and email_fingerprint(next(iter(key_ring(options.fingerprint_keys).values())), email)
    with psycopg.connect(options.database, autocommit=True) as database:
        found = database.execute("SELECT key_id FROM courier.hash_key_of(%s)", [verification_id]).fetchone()
        if found is None:
            return {"status": "not_found"}
        guess = code_hash(key_ring(options.hash_keys)[found[0]], verification_id, tenant, purpose, code)
        query = "SELECT status, checks_left, subject FROM courier.check_code(%s, %s, %s)"
        status, checks_left, account = database.execute(query, [verification_id, guess, fingerprint]).fetchone()
    if status in ("approved", "incorrect") and subject not in (None, account):
        return {"status": "other_subject"}  # two accounts asked for one recipient: the code was the other one's
    answer = {"status": status, "checksLeft": checks_left}
    return answer | {"subject": account} if status == "approved" else answer


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_page = self.path.partition("?")[0] == "/__/auth/links"
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        page = pathlib.Path(__file__).with_name("landing.html")
        self.wfile.write(page.read_bytes() if is_page else b"Nothing is here.")  # your own site goes on

    def do_POST(self):
        try:
            asked = json.loads(self.rfile.read(max(0, min(int(self.headers["Content-Length"]), 4096))))
            guess = [asked[name] for name in ("verificationId", "code", "tenant", "purpose")]
            status, answer = 200, check(options, *guess, asked.get("email"), asked.get("subject"))
        except Exception as error:  # its text may repeat what was asked: only its kind is told
            status, answer = 500, {"error": type(error).__name__}
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        pass  # its lines would have the tokens of links


def self_test(path=pathlib.Path(__file__).resolve().parents[1] / "schemas" / "test-vectors.json"):
    vectors = json.loads(path.read_text("utf-8"))
    keys = {name: {int(i): base64.b64decode(key) for i, key in ring.items()} for name, ring in vectors["keys"].items()}
    for v in vectors["codes"] + vectors["links"] + vectors["pushSecrets"]:
        guess = [uuid.UUID(v["verificationId"]), v["tenant"], v["purpose"], v.get("code") or v["token"]]
        assert code_hash(keys["hash"][v["hashKey"]], *guess).hex() == v["codeHash"], v
    for v in filter(lambda v: v["channel"] == "email", vectors["fingerprints"]):
        assert email_fingerprint(keys["fingerprint"][v["fingerprintKey"]], v["recipient"]).hex() == v["fingerprint"], v
    for v in vectors["typedCodes"]:
        assert typed_code(v["typed"], [v["digits"]] if v["digits"] else range(4, 11)) == v["code"], v
    print("verifier: hashes, fingerprints and typed codes are those of the test vectors")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    for name in ("database", "hash-keys", "fingerprint-keys", "tenant", "purpose", "subject", "email"):
        parser.add_argument(f"--{name}", default={"tenant": "default", "purpose": "sign_in"}.get(name))
    parser.add_argument("--digits", type=int, help="how many a code has, as code.length of the event says")
    parser.add_argument("command", nargs="*", help="check VERIFICATION_ID CODE, or serve HOST:PORT")
    options = parser.parse_args()
    command, *words = options.command or [""]
    if options.self_test:
        self_test()
    elif (command, len(words)) not in (("check", 2), ("serve", 1)) or not options.hash_keys:
        parser.exit(2, parser.format_help())
    elif command == "serve":
        host, _, port = words[0].rpartition(":")
        server = http.server.ThreadingHTTPServer((host, int(port)), Handler)
        print(f"verifier: http://{host}:{server.server_port}", flush=True)
        server.serve_forever()
    else:
        answer = check(options, *words, options.tenant, options.purpose, options.email, options.subject)
        print(json.dumps(answer))
        raise SystemExit(answer["status"] != "approved")

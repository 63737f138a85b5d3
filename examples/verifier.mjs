#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The hash and the two calls of a verifier in Node; verifier.py has the rest: reading of typed codes, e-mail, HTTP.
// Run as a program it computes the test vectors.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const length = (bytes) => { const four = Buffer.alloc(4); four.writeUInt32BE(bytes.length); return four; };

function mac(key, ...fields) {
  const joined = fields.map((field) => Buffer.from(field)).flatMap((bytes) => [length(bytes), bytes]);
  return createHmac("sha256", key).update(Buffer.concat(joined)).digest();
}

export const codeHash = (key, verificationId, tenant, purpose, code) =>
  mac(key, "hash", Buffer.from(verificationId.replaceAll("-", ""), "hex"), tenant, purpose, code);

export function emailFingerprint(key, address) {
  const at = address.lastIndexOf("@");
  return mac(key, "recipient", "email", address.slice(0, at) + address.slice(at).toLowerCase());
}

// The keys by id of a ring such as 2:base64,1:base64.
export const keyRing = (text) =>
  new Map(text.trim().split(/[\s,]+/).map((entry) => entry.split(/:(.*)/s))
    .map(([id, key]) => [Number(id), Buffer.from(key, "base64")]));

// pool: a Pool of the package pg, with a login that has the role courier_verifier. hashKeys: a Map of keyRing.
export async function check(pool, hashKeys, { verificationId, tenant, purpose, code, fingerprint = null }) {
  const found = await pool.query("SELECT key_id FROM courier.hash_key_of($1)", [verificationId]);
  if (found.rowCount === 0) return { status: "not_found" };
  const guess = codeHash(hashKeys.get(found.rows[0].key_id), verificationId, tenant, purpose, code);
  const call = "SELECT status, checks_left, subject FROM courier.check_code($1, $2, $3)";
  return (await pool.query(call, [verificationId, guess, fingerprint])).rows[0];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vectors = JSON.parse(readFileSync(new URL("../schemas/test-vectors.json", import.meta.url)));
  const key = (ring, id) => Buffer.from(vectors.keys[ring][id], "base64");
  const expect = (made, wanted) => { if (made.toString("hex") !== wanted) throw new Error(`not ${wanted}`); };
  for (const v of [...vectors.codes, ...vectors.links, ...vectors.pushSecrets])
    expect(codeHash(key("hash", v.hashKey), v.verificationId, v.tenant, v.purpose, v.code ?? v.token), v.codeHash);
  for (const v of vectors.fingerprints.filter((v) => v.channel === "email"))
    expect(emailFingerprint(key("fingerprint", v.fingerprintKey), v.recipient), v.fingerprint);
  console.log("verifier.mjs: hashes and fingerprints are those of the test vectors");
}

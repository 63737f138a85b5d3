// SPDX-License-Identifier: Apache-2.0

// The hash and the two calls of a verifier in Go; verifier.py has the rest: reading of typed codes, e-mail, HTTP.
// go run examples/verifier.go computes the test vectors, from the repository's folder.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
)

func mac(key []byte, fields ...[]byte) []byte {
	digest := hmac.New(sha256.New, key)
	for _, field := range fields {
		var length [4]byte
		binary.BigEndian.PutUint32(length[:], uint32(len(field)))
		digest.Write(length[:])
		digest.Write(field)
	}
	return digest.Sum(nil)
}

func codeHash(key []byte, verificationID, tenant, purpose, code string) ([]byte, error) {
	id, err := hex.DecodeString(strings.ReplaceAll(verificationID, "-", ""))
	return mac(key, []byte("hash"), id, []byte(tenant), []byte(purpose), []byte(code)), err
}

func emailFingerprint(key []byte, address string) []byte {
	at := strings.LastIndex(address, "@")
	return mac(key, []byte("recipient"), []byte("email"), []byte(address[:at]+strings.ToLower(address[at:])))
}

// Answer is a row of check_code; ChecksLeft and Subject may be NULL.
type Answer struct {
	Status     string
	ChecksLeft sql.NullInt32
	Subject    sql.NullString
}

// Check works with any driver, such as pgx's stdlib; db's login has the role courier_verifier. hashKeys are those of
// keys.hash by id. A fingerprint is needed for e-mail only, else it is nil.
func Check(ctx context.Context, db *sql.DB, hashKeys map[int][]byte, verificationID, tenant, purpose, code string,
	fingerprint []byte) (answer Answer, err error) {
	var key int
	err = db.QueryRowContext(ctx, "SELECT key_id FROM courier.hash_key_of($1)", verificationID).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return Answer{Status: "not_found"}, nil
	} else if err != nil {
		return answer, err
	}
	guess, err := codeHash(hashKeys[key], verificationID, tenant, purpose, code)
	if err != nil {
		return answer, err
	}
	var claimed any // a nil []byte would be an empty bytea in some drivers, not NULL
	if fingerprint != nil {
		claimed = fingerprint
	}
	err = db.QueryRowContext(ctx, "SELECT status, checks_left, subject FROM courier.check_code($1, $2, $3)",
		verificationID, guess, claimed).Scan(&answer.Status, &answer.ChecksLeft, &answer.Subject)
	return answer, err
}

func main() {
	type vector struct {
		VerificationID, Tenant, Purpose, Code, Token, CodeHash, Channel, Recipient, Fingerprint string
		HashKey, FingerprintKey                                                                 int
	}
	var vectors struct {
		Keys                                    map[string]map[int]string
		Codes, Links, PushSecrets, Fingerprints []vector
	}
	text, err := os.ReadFile("schemas/test-vectors.json")
	if err != nil {
		log.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		log.Fatal(err)
	}
	expect := func(ring string, id int, wanted string, made func(key []byte) []byte) {
		key, err := base64.StdEncoding.DecodeString(vectors.Keys[ring][id])
		if err != nil || hex.EncodeToString(made(key)) != wanted {
			log.Fatal("not ", wanted)
		}
	}
	for _, v := range append(append(vectors.Codes, vectors.Links...), vectors.PushSecrets...) {
		expect("hash", v.HashKey, v.CodeHash, func(key []byte) []byte {
			made, _ := codeHash(key, v.VerificationID, v.Tenant, v.Purpose, v.Code+v.Token)
			return made
		})
	}
	for _, v := range vectors.Fingerprints {
		if v.Channel == "email" {
			expect("fingerprint", v.FingerprintKey, v.Fingerprint, func(key []byte) []byte {
				return emailFingerprint(key, v.Recipient)
			})
		}
	}
	fmt.Println("verifier.go: hashes and fingerprints are those of the test vectors")
}

// SPDX-License-Identifier: Apache-2.0

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A verifier: it says whether a code, the token of an e-mail link or the secret of a push is right.
 *
 * <pre>
 * java -cp "/usr/share/java/postgresql.jar:$KAFKA_HOME/libs/*" examples/Verifier.java
 *     --database 'jdbc:postgresql://host/courier?user=my_verifier' --hash-keys FILE --verification ID --code CODE
 *     [--digits 6] [--tenant default] [--purpose sign_in] [--subject ACCOUNT]
 *     [--email ADDRESS --fingerprint-keys FILE]
 * java -cp ... examples/Verifier.java --vectors schemas/test-vectors.json
 * </pre>
 *
 * It needs pgjdbc, here Debian's libpostgresql-jdbc-java, and Jackson; the role courier_verifier and the key ring
 * keys.hash; for e-mail keys.fingerprint.
 */
public class Verifier {
    /** checksLeft is null unless the guess was counted; subject is told only when it was right. */
    record Answer(String status, Integer checksLeft, String subject) {}

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Each field is its length in 4 bytes and then its bytes. */
    static byte[] mac(byte[] key, byte[]... fields) throws GeneralSecurityException {
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        for (var field : fields) {
            mac.update(ByteBuffer.allocate(4).putInt(field.length).array());
            mac.update(field);
        }
        return mac.doFinal();
    }

    static byte[] codeHash(byte[] key, UUID id, String tenant, String purpose, String code)
            throws GeneralSecurityException {
        var bytes = ByteBuffer.allocate(16).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        return mac(key, utf8("hash"), bytes.array(), utf8(tenant), utf8(purpose), utf8(code));
    }

    static byte[] emailFingerprint(byte[] key, String address) throws GeneralSecurityException {
        var at = address.lastIndexOf('@');
        var canonical = address.substring(0, at) + address.substring(at).toLowerCase(Locale.ROOT);
        return mac(key, utf8("recipient"), utf8("email"), utf8(canonical));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A digit as 0 to 9, a space for spaces and dashes, nothing for what nobody sees, a for a letter with a case. */
    private static String shape(int character) {
        var kind = Character.getType(character);
        if (kind == Character.DECIMAL_DIGIT_NUMBER) {
            return String.valueOf(Character.digit(character, 10));
        }
        if (kind == Character.DASH_PUNCTUATION || Character.isWhitespace(character) || Character.isSpaceChar(character)
                || "\u0085\u2212\u30fc\uff70\u2500\u02d7\u2043".indexOf(character) >= 0) {
            return " ";
        }
        return switch (kind) {
            case Character.FORMAT, Character.CONTROL, Character.NON_SPACING_MARK, Character.ENCLOSING_MARK -> "";
            case Character.UPPERCASE_LETTER, Character.LOWERCASE_LETTER, Character.TITLECASE_LETTER -> "a";
            default -> "\u115f\u1160\u3164\uffa0\ufffc".indexOf(character) >= 0 ? "" : ".";
        };
    }

    private static final String AROUND = "[\\s\\p{IsWhite_Space}\\x{200b}-\\x{200f}\\x{2060}\\x{feff}]*";
    private static final Pattern TOKEN = Pattern.compile(AROUND + "([A-Za-z0-9_-]{43})" + AROUND);
    private static final Pattern GROUP = Pattern.compile("[0-9](?: *[0-9])*");

    /**
     * The code in what a person typed, or the token of a link as it is; null where there is no code or more than one.
     *
     * Digits with only spaces and dashes between them are one group; one that a letter touches is a slip, such as O
     * for 0.
     */
    static String typedCode(String text, int least, int most) {
        var token = TOKEN.matcher(text);
        if (token.matches()) {
            return token.group(1);
        }
        var shapes = "." + text.codePoints().mapToObj(Verifier::shape).collect(Collectors.joining()) + ".";
        var codes = GROUP.matcher(shapes).results()
                .filter(group -> shapes.charAt(group.start() - 1) != 'a' && shapes.charAt(group.end()) != 'a')
                .map(group -> group.group().replace(" ", ""))
                .filter(code -> code.length() >= least && code.length() <= most)
                .collect(Collectors.toSet());
        return codes.size() == 1 ? codes.iterator().next() : null;
    }

    /** The keys by id of a file such as 2:base64,1:base64, the active one first; read it anew when it changes. */
    static Map<Integer, byte[]> keyRing(String path) throws IOException {
        var keys = new LinkedHashMap<Integer, byte[]>();
        for (var entry : Files.readString(Path.of(path)).replace("\ufeff", "").trim().split("[\\s,]+")) {
            var parts = entry.split(":", 2);
            keys.put(Integer.valueOf(parts[0]), Base64.getDecoder().decode(parts[1]));
        }
        return keys;
    }

    /**
     * Asks the database, which approves a right guess and counts a wrong one.
     *
     * Tenant, purpose and subject are those of the person's session with you. The connection is in auto-commit mode, as
     * DriverManager makes it: a rollback would undo the count.
     */
    static Answer check(Connection database, Map<Integer, byte[]> hashKeys, UUID id, String tenant, String purpose,
            String code, String subject, byte[] fingerprint) throws SQLException, GeneralSecurityException {
        int key;
        try (var asked = database.prepareStatement("SELECT key_id FROM courier.hash_key_of(?)")) {
            asked.setObject(1, id);
            var row = asked.executeQuery();
            if (!row.next()) {
                return new Answer("not_found", null, null);
            }
            key = row.getInt(1);
        }
        var call = "SELECT status, checks_left, subject FROM courier.check_code(?, ?, ?)";
        try (var asked = database.prepareStatement(call)) {
            asked.setObject(1, id);
            asked.setBytes(2, codeHash(hashKeys.get(key), id, tenant, purpose, code));
            if (fingerprint == null) {
                asked.setNull(3, Types.BINARY); // with another type there is no such function
            } else {
                asked.setBytes(3, fingerprint);
            }
            var row = asked.executeQuery();
            row.next();
            var status = row.getString(1);
            var isSettled = status.equals("approved") || status.equals("incorrect");
            if (isSettled && subject != null && !subject.equals(row.getString(3))) {
                return new Answer("other_subject", null, null); // two accounts asked for one recipient
            }
            return new Answer(status, row.getObject(2, Integer.class),
                    status.equals("approved") ? row.getString(3) : null);
        }
    }

    public static void main(String[] words) throws Exception {
        var options = new HashMap<>(Map.of("--tenant", "default", "--purpose", "sign_in"));
        for (var i = 0; i + 1 < words.length; i += 2) {
            options.put(words[i], words[i + 1]);
        }
        if (options.containsKey("--vectors")) {
            compare(JSON.readTree(Path.of(options.get("--vectors")).toFile()));
            return;
        }
        var needed = Set.of("--database", "--hash-keys", "--verification", "--code");
        if (!options.keySet().containsAll(needed) || words.length % 2 != 0) {
            System.err.println("Verifier: --database, --hash-keys, --verification and --code are needed");
            System.exit(2);
        }
        var digits = options.containsKey("--digits") ? Integer.parseInt(options.get("--digits")) : 0;
        var code = typedCode(options.get("--code"), digits > 0 ? digits : 4, digits > 0 ? digits : 10);
        var answer = new Answer("not_a_code", null, null); // the database is not asked: each call there is a guess
        if (code != null) {
            byte[] fingerprint = null;
            if (options.containsKey("--email")) {
                var active = keyRing(options.get("--fingerprint-keys")).values().iterator().next();
                fingerprint = emailFingerprint(active, options.get("--email"));
            }
            try (var database = DriverManager.getConnection(options.get("--database"))) {
                var id = UUID.fromString(options.get("--verification"));
                answer = check(database, keyRing(options.get("--hash-keys")), id, options.get("--tenant"),
                        options.get("--purpose"), code, options.get("--subject"), fingerprint);
            }
        }
        System.out.println(JSON.writeValueAsString(answer));
        System.exit(answer.status().equals("approved") ? 0 : 1);
    }

    /** Computes the test vectors. */
    private static void compare(JsonNode vectors) throws GeneralSecurityException {
        for (var list : new String[] {"codes", "links", "pushSecrets"}) {
            for (var v : vectors.get(list)) {
                var id = UUID.fromString(v.get("verificationId").asText());
                var code = v.has("code") ? v.get("code").asText() : v.get("token").asText();
                expect(v.get("codeHash"), codeHash(key(vectors, "hash", v.get("hashKey")), id, v.get("tenant").asText(),
                        v.get("purpose").asText(), code));
            }
        }
        for (var v : vectors.get("fingerprints")) {
            if (v.get("channel").asText().equals("email")) {
                var key = key(vectors, "fingerprint", v.get("fingerprintKey"));
                expect(v.get("fingerprint"), emailFingerprint(key, v.get("recipient").asText()));
            }
        }
        for (var v : vectors.get("typedCodes")) {
            var digits = v.get("digits").asInt();
            var found = typedCode(v.get("typed").asText(), digits > 0 ? digits : 4, digits > 0 ? digits : 10);
            if (!Objects.equals(found, v.get("code").isNull() ? null : v.get("code").asText())) {
                throw new AssertionError(v + " is read as " + found);
            }
        }
        System.out.println("Verifier: hashes, fingerprints and typed codes are those of the test vectors");
    }

    private static byte[] key(JsonNode vectors, String ring, JsonNode id) {
        return Base64.getDecoder().decode(vectors.get("keys").get(ring).get(id.asText()).asText());
    }

    private static void expect(JsonNode wanted, byte[] made) {
        if (!Arrays.equals(made, HexFormat.of().parseHex(wanted.asText()))) {
            throw new AssertionError("not " + wanted);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport

/// Logs every write to sends and to the outbox by triggers, in the writing transaction.
///
/// Final rows cannot show a write by a claim's former holder.
enum SendAudit {
    /// The setting by which a session states its worker.
    static let writerSetting = "courier_test.writer"

    static func install(in database: LedgerDatabase) async throws {
        try await database.script(
            """
            CREATE SCHEMA courier_test;
            CREATE TABLE courier_test.send_change (
                number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                send uuid NOT NULL,
                writer text NOT NULL,
                old_state text,
                new_state text NOT NULL,
                old_fence integer NOT NULL,
                new_fence integer NOT NULL,
                lease_was_over boolean NOT NULL,
                at timestamptz NOT NULL DEFAULT clock_timestamp()
            );
            CREATE TABLE courier_test.outbox_insert (stream uuid NOT NULL, sequence integer NOT NULL);
            -- The row's lock is held while its trigger runs, so the numbers of one send's changes are in their order.
            CREATE FUNCTION courier_test.note_send() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS $$
            BEGIN
                INSERT INTO courier_test.send_change
                    (send, writer, old_state, new_state, old_fence, new_fence, lease_was_over)
                VALUES (
                    NEW.id, coalesce(current_setting('courier_test.writer', true), ''), OLD.state, NEW.state,
                    coalesce(OLD.fence, 0), NEW.fence, EXISTS (
                        SELECT FROM courier.parcel p
                        WHERE p.lease_until < clock_timestamp() AND p.sends @> ARRAY[OLD.id]
                    )
                );
                RETURN NULL;
            END
            $$;
            CREATE FUNCTION courier_test.note_outbox() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS $$
            BEGIN
                -- A transaction that deletes packs writes what is left of them, and nothing else.
                IF current_setting('courier_test.deletes_packs', true) = 'yes' THEN RETURN NULL; END IF;
                INSERT INTO courier_test.outbox_insert SELECT NEW.stream, NEW.sequence;
                RETURN NULL;
            END
            $$;
            CREATE FUNCTION courier_test.note_pack() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS $$
            BEGIN
                INSERT INTO courier_test.outbox_insert SELECT r.stream, r.sequence FROM unnest(NEW.records) AS r;
                RETURN NULL;
            END
            $$;
            CREATE FUNCTION courier_test.note_deletion() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS $$
            BEGIN
                PERFORM set_config('courier_test.deletes_packs', 'yes', true);
                RETURN OLD;
            END
            $$;
            CREATE TRIGGER note_send AFTER INSERT OR UPDATE ON courier.send
                FOR EACH ROW EXECUTE FUNCTION courier_test.note_send();
            CREATE TRIGGER note_outbox AFTER INSERT ON courier.outbox
                FOR EACH ROW EXECUTE FUNCTION courier_test.note_outbox();
            CREATE TRIGGER note_pack AFTER INSERT ON courier.outbox_pack
                FOR EACH ROW EXECUTE FUNCTION courier_test.note_pack();
            CREATE TRIGGER note_deletion BEFORE DELETE ON courier.outbox_pack
                FOR EACH ROW EXECUTE FUNCTION courier_test.note_deletion();
            """
        )
    }
}

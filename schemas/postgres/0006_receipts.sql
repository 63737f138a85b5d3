-- SPDX-License-Identifier: Apache-2.0
-- Receipts: the delivery reports of providers. Every statement may be run again.

-- Receipts that came before their send, or whose send is unknown; the others leave no row.
CREATE TABLE IF NOT EXISTS courier.receipt (
    id uuid PRIMARY KEY,               -- made from the record's place
    provider text NOT NULL,
    send_id uuid,
    provider_message_id text,
    status text NOT NULL CHECK (status IN ('sent', 'delivered', 'undelivered')),
    reason text,
    error_code text,
    sealed bytea NOT NULL,             -- the record under AES-GCM, for the dead letters: it may hold a number
    seal_key smallint NOT NULL,
    received_at timestamptz NOT NULL,
    tries smallint NOT NULL,
    due_at timestamptz NOT NULL        -- when its send is looked for again
);

CREATE INDEX IF NOT EXISTS receipt_due ON courier.receipt (due_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON courier.receipt TO courier_worker;

SELECT courier.sample_less('courier.receipt');

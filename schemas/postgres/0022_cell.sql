-- SPDX-License-Identifier: Apache-2.0
-- Which cell this database belongs to. Every statement may be run again.

DROP FUNCTION IF EXISTS courier.shard_place();
DROP TABLE IF EXISTS courier.shard;

-- One row, written by the first worker: ids name its cell, so a worker of another one would make ids whose database
-- nobody finds.
CREATE TABLE IF NOT EXISTS courier.cell (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    number smallint NOT NULL CHECK (number BETWEEN 0 AND 255)
);

SELECT courier.sample_less('courier.cell');

GRANT SELECT, INSERT ON courier.cell TO courier_worker;

-- Which of the shards this database is. Every statement may be run again.

-- One row, written by `code-courier migrate`: requests are placed by their recipient and by the number of shards, and an
-- id names its shard, so a database in another place of the list, or in a longer list, would answer for the wrong people.
CREATE TABLE IF NOT EXISTS courier.shard (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    number smallint NOT NULL,
    count smallint NOT NULL,
    CHECK (number >= 0 AND number < count)
);

-- A database that has been in use before it was told is the only one.
INSERT INTO courier.shard (number, count)
SELECT 0, 1 WHERE EXISTS (SELECT FROM courier.verification)
ON CONFLICT DO NOTHING;

GRANT SELECT ON courier.shard TO courier_worker;

/**
 * Makes the tables of the index of one chain, in an empty file. Any change gives stores another format.
 *
 * Hashes and addresses are their raw bytes. Keys of the large tables begin with the epoch, so that random inserts
 * stay inside the cache-sized newest part of each B-tree. Ids of epochs say nothing of their order: `first_block` does.
 * Each `sum` of a number is the checksum of the other columns of its row.
 */
export const indexTables = `
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    chain_id INTEGER NOT NULL,
    genesis_hash BLOB NOT NULL,
    -- NULL while nothing is stored
    indexed_from INTEGER,
    -- Newest stored block, so that one that is lost shows
    head INTEGER,
    backfilled INTEGER NOT NULL DEFAULT 0,
    -- 0 from a rollback until the index is level with the node again
    settled INTEGER NOT NULL DEFAULT 1,
    -- Newest stored block that the node has called final
    finalized INTEGER,
    -- Final blocks were removed; over once this height is final again
    degraded_until INTEGER,
    -- Number of times that blocks were removed
    rollbacks INTEGER NOT NULL,
    -- First block from which on up to the head: blocks are traced; blocks were held against their headers when they were
    -- stored. NULL: not even the newest block
    traced_from INTEGER,
    roots_from INTEGER,
    -- Blocks with a part unknown, as text: 7 10-12
    unknown_blocks TEXT,
    -- Name of the log of changes, the entry after which changes can be replayed, and the newest entry
    changes_log TEXT NOT NULL,
    changes_from INTEGER NOT NULL,
    changes_to INTEGER NOT NULL,
    sum INTEGER
  ) STRICT;

  CREATE TABLE block (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    parent_hash BLOB NOT NULL,
    timestamp_seconds INTEGER NOT NULL,
    tx_count INTEGER NOT NULL,
    sum INTEGER
  ) STRICT;

  -- id = block number * 65536 + index in the block
  CREATE TABLE tx (id INTEGER PRIMARY KEY, rec BLOB NOT NULL) STRICT;

  -- Begins at a block; the next one begins once this one is full.
  -- proof: how a missing or altered row of the epoch shows. 1: by the sums of its parts; 2: by the sums of its rows
  CREATE TABLE epoch (
    id INTEGER PRIMARY KEY,
    first_block INTEGER NOT NULL,
    tx_count INTEGER NOT NULL,
    proof INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX epoch_first_block ON epoch (first_block);

  -- Epochs whose candidates count. Candidates outlive their blocks: an epoch may be here and not in epoch.
  -- proof: as of epoch; 0: not at all until the next merge, since damage was taken for what was written
  CREATE TABLE holding_epoch (id INTEGER PRIMARY KEY, proof INTEGER NOT NULL) STRICT;

  -- Epochs that nobody reads any more and whose rows are still to be removed
  CREATE TABLE dropped_epoch (id INTEGER PRIMARY KEY) STRICT;

  -- The merge under way. Rows are copied table by table; how far it came in one of them, the target's last row says
  CREATE TABLE merge (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    target INTEGER NOT NULL,
    tables_done INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE merge_source (epoch INTEGER PRIMARY KEY) STRICT;

  -- CRC-32 of the tables that say which epochs there are, and the text that it is of, from which they are put back
  CREATE TABLE epoch_check (id INTEGER PRIMARY KEY CHECK (id = 1), sum INTEGER NOT NULL, list TEXT) STRICT;

  -- sum: hash of the row less that of the row before it in its epoch, 3 bytes; NULL where proof is not 2
  CREATE TABLE address_tx (
    epoch INTEGER NOT NULL,
    address BLOB NOT NULL,
    tx_id INTEGER NOT NULL,
    sum BLOB,
    PRIMARY KEY (epoch, address, tx_id)
  ) STRICT, WITHOUT ROWID;

  -- key: the first 8 bytes of the hash; the record has all of it. sum: as of address_tx
  CREATE TABLE tx_hash (
    epoch INTEGER NOT NULL,
    key BLOB NOT NULL,
    tx_id INTEGER NOT NULL,
    sum BLOB,
    PRIMARY KEY (epoch, key, tx_id)
  ) STRICT, WITHOUT ROWID;

  -- token_id: empty for erc20, else its length in bytes, then big-endian, so that bytes sort as numbers; a range is the key of
  -- its first id and that of its last. sum: as of address_tx
  CREATE TABLE holding (
    epoch INTEGER NOT NULL,
    owner BLOB NOT NULL,
    contract BLOB NOT NULL,
    token_id BLOB NOT NULL,
    standard INTEGER NOT NULL,
    sum BLOB,
    PRIMARY KEY (epoch, owner, contract, token_id, standard)
  ) STRICT, WITHOUT ROWID;

  -- What was written into a table of an epoch (0: address_tx, 1: tx_hash, 2: holding), by (epoch * 4 + table) * 64 + page.
  -- Where proof is 1: a page of the sums of its parts; where it is 2: one page, the hash of the last row
  CREATE TABLE epoch_sum (id INTEGER PRIMARY KEY, rec BLOB NOT NULL) STRICT;

  -- What a block does to an account besides its transactions
  CREATE TABLE account_event (
    address BLOB NOT NULL,
    block INTEGER NOT NULL,
    rec BLOB NOT NULL,
    sum INTEGER,
    PRIMARY KEY (address, block)
  ) STRICT, WITHOUT ROWID;
  -- For rollbacks
  CREATE INDEX account_event_block ON account_event (block);

  -- What a rollback must delete and cannot read from the records
  CREATE TABLE undo (block INTEGER PRIMARY KEY, parties BLOB NOT NULL, sum INTEGER) STRICT;

  CREATE TABLE reorged (
    hash BLOB PRIMARY KEY,
    ancestor_number INTEGER NOT NULL,
    ancestor_hash BLOB NOT NULL,
    sum INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE pool (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    status INTEGER NOT NULL,
    first_seen_seconds INTEGER NOT NULL,
    rec BLOB NOT NULL,
    sum INTEGER
  ) STRICT;

  CREATE TABLE pool_address (
    address BLOB NOT NULL,
    pool_id INTEGER NOT NULL,
    PRIMARY KEY (address, pool_id)
  ) STRICT, WITHOUT ROWID;

  -- Of entries that left the pool lately, in case a reorg brings them back
  CREATE TABLE first_seen (
    hash BLOB PRIMARY KEY,
    first_seen_seconds INTEGER NOT NULL,
    left_at INTEGER NOT NULL,
    sum INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX first_seen_left_at ON first_seen (left_at);

  -- Keys of pool_address (0) and reorged (1) by their first 12 bits: how many, and the sum of their checksums
  CREATE TABLE key_part (
    keyed INTEGER NOT NULL,
    part INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    total INTEGER NOT NULL,
    PRIMARY KEY (keyed, part)
  ) STRICT, WITHOUT ROWID;

  -- What changed in histories, an entry or two for each commit; kind: its place in entryKinds, from 1 on.
  -- previous: the entry before. first_block, last_block: what it appends, removes or calls final. needs: the earliest of the
  -- entries that its changes are found by, besides its own bytes
  CREATE TABLE change_log (
    entry INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    first_block INTEGER,
    last_block INTEGER,
    needs INTEGER,
    rec BLOB NOT NULL,
    sum INTEGER
  ) STRICT;
  CREATE INDEX change_log_appended ON change_log (last_block) WHERE kind = 1;
  CREATE INDEX change_log_removed ON change_log (entry) WHERE kind = 2;

  -- Written about once a second, each time with another beat
  CREATE TABLE writer_report (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    beat INTEGER NOT NULL,
    phase TEXT NOT NULL,
    head INTEGER,
    finalized INTEGER,
    indexed_to INTEGER,
    rolling_back_to INTEGER,
    pool_covered INTEGER NOT NULL,
    pool_age_ms INTEGER,
    problem TEXT,
    -- Timestamp of the head, in Unix seconds
    head_seconds INTEGER,
    sum INTEGER
  ) STRICT;
`

import type { Migration } from '../shared/checkMigrations.ts'

/**
 * Every step from an empty file to today's schema, in order. Forward only: to change a table, append a step.
 *
 * Hashes and addresses are their raw bytes. Keys of the large tables begin with the epoch, so that random inserts
 * stay inside the cache-sized newest part of each B-tree. Ids of epochs say nothing of their order: `first_block` does.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'index of one chain',
    sql: `
      CREATE TABLE meta (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        chain_id INTEGER NOT NULL,
        genesis_hash BLOB NOT NULL,
        indexed_from INTEGER,
        backfilled INTEGER NOT NULL DEFAULT 0,
        degraded INTEGER NOT NULL DEFAULT 0
      ) STRICT;

      CREATE TABLE block (
        number INTEGER PRIMARY KEY,
        hash BLOB NOT NULL,
        parent_hash BLOB NOT NULL,
        timestamp_seconds INTEGER NOT NULL,
        tx_count INTEGER NOT NULL
      ) STRICT;

      -- id = block number * 65536 + index in the block
      CREATE TABLE tx (id INTEGER PRIMARY KEY, rec BLOB NOT NULL) STRICT;

      -- Begins at a block; the next one begins once this one is full.
      CREATE TABLE epoch (
        id INTEGER PRIMARY KEY,
        first_block INTEGER NOT NULL,
        tx_count INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE address_tx (
        epoch INTEGER NOT NULL,
        address BLOB NOT NULL,
        tx_id INTEGER NOT NULL,
        PRIMARY KEY (epoch, address, tx_id)
      ) STRICT, WITHOUT ROWID;

      -- key: the first 8 bytes of the hash; the record has all of it
      CREATE TABLE tx_hash (
        epoch INTEGER NOT NULL,
        key BLOB NOT NULL,
        tx_id INTEGER NOT NULL,
        PRIMARY KEY (epoch, key, tx_id)
      ) STRICT, WITHOUT ROWID;

      -- token_id: empty for erc20, else its length in bytes, then big-endian, so that bytes sort as numbers
      CREATE TABLE holding (
        epoch INTEGER NOT NULL,
        owner BLOB NOT NULL,
        contract BLOB NOT NULL,
        token_id BLOB NOT NULL,
        standard INTEGER NOT NULL,
        PRIMARY KEY (epoch, owner, contract, token_id, standard)
      ) STRICT, WITHOUT ROWID;

      -- What a rollback must delete and cannot read from the records
      CREATE TABLE undo (block INTEGER PRIMARY KEY, parties BLOB NOT NULL) STRICT;

      CREATE TABLE reorged (
        hash BLOB PRIMARY KEY,
        ancestor_number INTEGER NOT NULL,
        ancestor_hash BLOB NOT NULL
      ) STRICT, WITHOUT ROWID;

      -- gone_at: has left the node's pool; may be in a block up to this height
      CREATE TABLE pool (
        id INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        status INTEGER NOT NULL,
        gone_at INTEGER,
        first_seen_seconds INTEGER NOT NULL,
        rec BLOB NOT NULL
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
        left_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX first_seen_left_at ON first_seen (left_at);
    `
  },
  {
    version: 2,
    name: 'what was final, and how long it counts',
    sql: `
      -- Newest stored block that the node has called final
      ALTER TABLE meta ADD COLUMN finalized INTEGER;
      -- Final blocks were removed; over once this height is final again
      ALTER TABLE meta ADD COLUMN degraded_until INTEGER;
      -- 0 from a rollback until the index is level with the node again
      ALTER TABLE meta ADD COLUMN settled INTEGER NOT NULL DEFAULT 1;
      UPDATE meta SET degraded_until = (SELECT coalesce(max(number), 0) FROM block) WHERE degraded = 1;
      ALTER TABLE meta DROP COLUMN degraded;
    `
  },
  {
    version: 3,
    name: 'ranges of token ids',
    sql: `
      -- No table changes. From here on holding.token_id may be a range, the key of its first id and that of its last;
      -- this step keeps away programs that would read one wrong id in it.
    `
  },
  {
    version: 4,
    name: 'how often blocks were removed',
    sql: 'ALTER TABLE meta ADD COLUMN rollbacks INTEGER NOT NULL DEFAULT 0'
  },
  {
    version: 5,
    name: 'what the writer says of itself',
    sql: `
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
        problem TEXT
      ) STRICT;
    `
  },
  {
    version: 6,
    name: 'merging of epochs',
    sql: `
      CREATE UNIQUE INDEX epoch_first_block ON epoch (first_block);

      -- Epochs whose candidates count. Candidates outlive their blocks: an epoch may be here and not in epoch
      CREATE TABLE holding_epoch (id INTEGER PRIMARY KEY) STRICT;
      INSERT INTO holding_epoch
        WITH RECURSIVE found (id) AS (
          SELECT min(epoch) FROM holding
          UNION ALL
          SELECT (SELECT min(epoch) FROM holding WHERE epoch > found.id) FROM found WHERE found.id IS NOT NULL
        )
        SELECT id FROM found WHERE id IS NOT NULL;

      -- The merge under way. Rows are copied table by table; how far it came in one of them, the target's last row says
      CREATE TABLE merge (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        target INTEGER NOT NULL,
        tables_done INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE merge_source (epoch INTEGER PRIMARY KEY) STRICT;

      -- Epochs that nobody reads any more and whose rows are still to be removed
      CREATE TABLE dropped_epoch (id INTEGER PRIMARY KEY) STRICT;
    `
  },
  {
    version: 7,
    name: 'coverage, proofs of rows, checksums and the log of changes',
    sql: `
      -- First block from which on up to the head: records hold token transfers, and account_event is written; blocks are
      -- traced; senders of operations, authorities of authorizations and logs of failed transactions are indexed; blocks were
      -- held against their headers when they were stored; records, blocks and account events have checksums. NULL: not even
      -- the newest block
      ALTER TABLE meta ADD COLUMN detailed_from INTEGER;
      ALTER TABLE meta ADD COLUMN traced_from INTEGER;
      ALTER TABLE meta ADD COLUMN operations_from INTEGER;
      ALTER TABLE meta ADD COLUMN roots_from INTEGER;
      ALTER TABLE meta ADD COLUMN checked_from INTEGER;
      -- Newest stored block, so that one that is lost shows
      ALTER TABLE meta ADD COLUMN head INTEGER;

      -- Timestamp of the head that the writer reports, in Unix seconds
      ALTER TABLE writer_report ADD COLUMN head_seconds INTEGER;

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

      -- Checksum of the other columns; NULL in rows of an older program that have none yet
      ALTER TABLE meta ADD COLUMN sum INTEGER;
      ALTER TABLE writer_report ADD COLUMN sum INTEGER;
      ALTER TABLE block ADD COLUMN sum INTEGER;
      ALTER TABLE undo ADD COLUMN sum INTEGER;
      ALTER TABLE reorged ADD COLUMN sum INTEGER;
      ALTER TABLE pool ADD COLUMN sum INTEGER;
      ALTER TABLE first_seen ADD COLUMN sum INTEGER;

      -- Name of the log of changes, the entry after which changes can be replayed, and the newest entry
      ALTER TABLE meta ADD COLUMN changes_log TEXT;
      ALTER TABLE meta ADD COLUMN changes_from INTEGER;
      ALTER TABLE meta ADD COLUMN changes_to INTEGER;
      UPDATE meta SET changes_log = lower(hex(randomblob(8))), changes_from = 0, changes_to = 0;

      -- Keys of pool_address (0) and reorged (1) by their first 12 bits: how many, and the sum of their checksums
      CREATE TABLE key_part (
        keyed INTEGER NOT NULL,
        part INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        total INTEGER NOT NULL,
        PRIMARY KEY (keyed, part)
      ) STRICT, WITHOUT ROWID;

      -- How a missing or altered row of the epoch shows. 0: not at all, an older program wrote it; 1: by the sums of its parts;
      -- 2: by the sums of its rows
      ALTER TABLE epoch ADD COLUMN proof INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE holding_epoch ADD COLUMN proof INTEGER NOT NULL DEFAULT 0;

      -- Hash of the row less that of the row before it in its epoch, 3 bytes. NULL where proof is not 2
      ALTER TABLE address_tx ADD COLUMN sum BLOB;
      ALTER TABLE tx_hash ADD COLUMN sum BLOB;
      ALTER TABLE holding ADD COLUMN sum BLOB;

      -- What was written into a table of an epoch (0: address_tx, 1: tx_hash, 2: holding), by (epoch * 4 + table) * 64 + page.
      -- Where proof is 1: a page of the sums of its parts; where it is 2: one page, the hash of the last row
      CREATE TABLE epoch_sum (id INTEGER PRIMARY KEY, rec BLOB NOT NULL) STRICT;

      -- CRC-32 of the tables that say which epochs there are, and the text that it is of, from which they are put back.
      -- None: an older program wrote them
      CREATE TABLE epoch_check (id INTEGER PRIMARY KEY CHECK (id = 1), sum INTEGER NOT NULL, list TEXT) STRICT;

      -- A merge under way has written rows without sums: it begins anew
      INSERT INTO dropped_epoch SELECT target FROM merge;
      DELETE FROM merge_source;
      DELETE FROM merge;

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
    `
  }
]

/** What the SQL of the tables has to be written in for one engine. */
export interface SqlTypes {
  readonly integer: string
  readonly bytes: string
  /** Ends each CREATE TABLE. */
  readonly suffix: string
  /** Ends those whose rows lie in the order of their key. */
  readonly keyedSuffix: string
  /** Ends those of one row that is written again and again. */
  readonly singleSuffix: string
}

/**
 * Returns the SQL of the tables of one chain's index, but for those of records and chunks, which each engine lays out in its own way.
 * Any change gives stores another format.
 *
 * Hashes and addresses are their raw bytes; booleans are 0 and 1. `sum` is the checksum of the other columns of its row.
 */
export function headTables(types: SqlTypes): string {
  return [manifestTables, blockTables, poolTables, readerTables].map(part => part(types)).join('')
}

/** The state of the index, and its runs. */
function manifestTables({ integer, bytes, suffix, singleSuffix }: SqlTypes): string {
  return `
  -- indexed_from: NULL while nothing is stored. head, head_hash: newest stored block, by which the rows of all blocks are proven.
  -- settled: 0 from a rollback until the index is level with the node again. finalized: newest stored block that the node has
  -- called final. degraded_until: final blocks were removed; over once this height is final again.
  -- traced_from, roots_from: first block from which on up to the head blocks are traced, or were held against their headers.
  -- unknown_blocks: blocks with a part unknown, as text: 7 10-12.
  -- changes_log, changes_from, changes_to: name of the log of changes, the entry after which changes can be replayed, and the
  -- newest entry.
  -- manifest_version: another one after each change of the runs; manifest_sum: CRC-32 over the rows of run in the order of their
  -- numbers; next_run: no run has had this number or a higher one.
  CREATE TABLE meta (
    id ${integer} PRIMARY KEY CHECK (id = 1),
    chain_id ${integer} NOT NULL,
    genesis_hash ${bytes} NOT NULL,
    indexed_from ${integer},
    head ${integer},
    head_hash ${bytes},
    backfilled ${integer} NOT NULL,
    settled ${integer} NOT NULL,
    finalized ${integer},
    degraded_until ${integer},
    rollbacks ${integer} NOT NULL,
    traced_from ${integer},
    roots_from ${integer},
    unknown_blocks text,
    changes_log text NOT NULL,
    changes_from ${integer} NOT NULL,
    changes_to ${integer} NOT NULL,
    manifest_version ${integer} NOT NULL,
    manifest_sum ${integer} NOT NULL,
    next_run ${integer} NOT NULL,
    sum ${integer}
  ) ${singleSuffix};

  -- The manifest: one row for each run of blocks
  CREATE TABLE run (number ${integer} PRIMARY KEY, rec ${bytes} NOT NULL) ${suffix};

  -- Runs that are not in the manifest, and whose chunks are to be removed
  CREATE TABLE dropped_run (number ${integer} PRIMARY KEY) ${suffix};
`
}

/** Blocks, and what reorgs removed. */
function blockTables({ integer, bytes, suffix, keyedSuffix }: SqlTypes): string {
  return `
  -- extra: CRC-32 of the row of block_extra; NULL where the block has none
  CREATE TABLE block (
    number ${integer} PRIMARY KEY,
    hash ${bytes} NOT NULL,
    parent_hash ${bytes} NOT NULL,
    timestamp_seconds ${integer} NOT NULL,
    tx_count ${integer} NOT NULL,
    extra ${integer},
    sum ${integer}
  ) ${suffix};

  -- What the records of a block lack: events of accounts, and parties that no record names
  CREATE TABLE block_extra (number ${integer} PRIMARY KEY, rec ${bytes} NOT NULL) ${suffix};

  -- Transactions that a reorg removed, by the first 6 bytes of their hashes
  CREATE TABLE reorged (
    prefix ${bytes} PRIMARY KEY,
    ancestor_number ${integer} NOT NULL,
    ancestor_hash ${bytes} NOT NULL,
    sum ${integer}
  ) ${keyedSuffix};
`
}

/** The pool, and how many keys it and what reorgs removed have. */
function poolTables({ integer, bytes, suffix, keyedSuffix }: SqlTypes): string {
  return `
  CREATE TABLE pool (
    id ${integer} PRIMARY KEY,
    hash ${bytes} NOT NULL UNIQUE,
    status ${integer} NOT NULL,
    first_seen_seconds ${integer} NOT NULL,
    rec ${bytes} NOT NULL,
    sum ${integer}
  ) ${suffix};

  CREATE TABLE pool_address (
    address ${bytes} NOT NULL,
    pool_id ${integer} NOT NULL,
    PRIMARY KEY (address, pool_id)
  ) ${keyedSuffix};

  -- Of entries that left the pool lately, in case a reorg brings them back
  CREATE TABLE first_seen (
    hash ${bytes} PRIMARY KEY,
    first_seen_seconds ${integer} NOT NULL,
    left_at ${integer} NOT NULL,
    sum ${integer}
  ) ${keyedSuffix};
  CREATE INDEX first_seen_left_at ON first_seen (left_at);

  -- Keys of pool_address (0) and reorged (1) by their first 12 bits: how many, and the sum of their checksums
  CREATE TABLE key_part (
    keyed ${integer} NOT NULL,
    part ${integer} NOT NULL,
    keys ${integer} NOT NULL,
    total ${integer} NOT NULL,
    PRIMARY KEY (keyed, part)
  ) ${keyedSuffix};
`
}

/** What readers follow: changes, and the reports of the writer. */
function readerTables({ integer, bytes, suffix, singleSuffix }: SqlTypes): string {
  return `
  -- What changed in histories, an entry or two for each commit; kind: its number in entryKinds.
  -- previous: the entry before. first_block, last_block: what it appends or removes
  CREATE TABLE change_log (
    entry ${integer} PRIMARY KEY,
    previous ${integer} NOT NULL,
    kind ${integer} NOT NULL,
    first_block ${integer},
    last_block ${integer},
    rec ${bytes} NOT NULL,
    sum ${integer}
  ) ${suffix};
  CREATE INDEX change_log_removed ON change_log (entry) WHERE kind = 2;

  -- Written about once a second, each time with another beat. head_seconds: timestamp of the head, in Unix seconds
  CREATE TABLE writer_report (
    id ${integer} PRIMARY KEY CHECK (id = 1),
    beat ${integer} NOT NULL,
    phase text NOT NULL,
    head ${integer},
    finalized ${integer},
    indexed_to ${integer},
    rolling_back_to ${integer},
    pool_covered ${integer} NOT NULL,
    pool_age_ms ${integer},
    problem text,
    head_seconds ${integer},
    sum ${integer}
  ) ${singleSuffix};
`
}

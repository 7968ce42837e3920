/** The schema that holds one chain's index; nothing else is in it. */
export function chainSchema(chainId: number): string {
  return `chain_data_${chainId}`
}

/** The schema of an index that was kept when another one took its place. */
export function asideSchema(chainId: number): string {
  return `${chainSchema(chainId)}_kept_aside`
}

/**
 * Reads the bounds of a partition from the catalog.
 * @returns its first id, and the one after its last; the largest number there is where it has no end.
 */
export function partitionIds(bound: string): { readonly from: number; readonly end: number } {
  const [, from = 0, end = Number.MAX_SAFE_INTEGER] =
    /FROM \('(\d+)'\) TO \((?:'(\d+)'|MAXVALUE)\)/.exec(bound) ?? []
  return { from: Number(from), end: Number(end) }
}

/**
 * Checksum of a row of one table of one chain: the first bits of MD5, which every server has, over all other columns that are not
 * empty, by name. Written where it is needed: a trigger finds no function of its schema by itself.
 */
const rowSum = (chain: string, table: string, whole: string) =>
  `('x' || substr(md5(${chain} || ' ' || ${table} || ' ' || jsonb_strip_nulls(${whole} - 'sum')::text), 1, 8))::bit(32)::integer`

/** Name of the setting by which the trigger knows the writer's transactions: the id of the chain. */
export const writingChain = 'chain_data.chain'

/** A name that no other log has. */
export const newLogName = 'left(md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text), 16)'

/** Tables whose rows have checksums, by a trigger. */
const sealedTables = [
  'meta',
  'writer_report',
  'block',
  'account_event',
  'undo',
  'reorged',
  'pool',
  'first_seen',
  'change_log'
]

/**
 * Makes the tables of the index of one chain, in an empty schema that is the search path. Any change gives stores another
 * format.
 *
 * Hashes and addresses are their raw bytes. `tx` and `address_tx` are cut by transaction id, so that random
 * inserts stay inside the newest part of each index; the writer makes the parts (`partitions.ts`).
 */
export const indexTables = `
  -- indexed_from: absent while nothing is stored. head: newest stored block, so that one that is lost shows.
  -- transactions: how many are stored.
  -- degraded_until: final blocks were removed; over once this height is final again.
  -- settled: false from a rollback until the index is level with the node again.
  -- traced_from, tallied_from, roots_from: first block from which on up to the head blocks are traced; rows of address_tx were
  -- counted; blocks were held against their headers when they were stored. Absent: not even the newest block.
  -- unknown_blocks: blocks with a part unknown, as text: 7 10-12.
  -- changes_log, changes_from, changes_to: name of the log of changes, the entry after which changes can be replayed, and the
  -- newest entry.
  -- directory_from, directory_end: the partitions from this block on, up to but not with this one, are listed; absent: none.
  CREATE TABLE meta (
    id smallint PRIMARY KEY CHECK (id = 1),
    chain_id bigint NOT NULL,
    genesis_hash bytea NOT NULL,
    indexed_from bigint,
    head bigint,
    transactions bigint NOT NULL DEFAULT 0,
    backfilled boolean NOT NULL DEFAULT false,
    settled boolean NOT NULL DEFAULT true,
    finalized bigint,
    degraded_until bigint,
    rollbacks bigint NOT NULL,
    traced_from bigint,
    tallied_from bigint,
    roots_from bigint,
    unknown_blocks text,
    changes_log text NOT NULL,
    changes_from bigint NOT NULL,
    changes_to bigint NOT NULL,
    directory_from bigint,
    directory_end bigint,
    sum integer
  ) WITH (fillfactor = 50);

  -- Who may write: each writer that takes over makes the term its own by counting it on.
  CREATE TABLE leader (
    id smallint PRIMARY KEY CHECK (id = 1),
    term bigint NOT NULL
  ) WITH (fillfactor = 50);
  INSERT INTO leader VALUES (1, 0);

  -- Begins every transaction that writes. The row of the term comes from the statement that calls it: a function cannot read a
  -- table that Citus has put on another node.
  CREATE FUNCTION require_term(mine bigint, newest bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF newest IS DISTINCT FROM mine THEN
      RAISE EXCEPTION 'term % is over, the newest is %', mine, newest USING ERRCODE = 'CD001';
    END IF;
  END
  $$;

  CREATE TABLE block (
    number bigint PRIMARY KEY,
    hash bytea NOT NULL,
    parent_hash bytea NOT NULL,
    timestamp_seconds bigint NOT NULL,
    tx_count integer NOT NULL,
    sum integer
  );

  -- id = block number * 65536 + index in the block
  CREATE TABLE tx (
    id bigint NOT NULL,
    rec bytea NOT NULL,
    -- Ids only ascend: no page has to leave room.
    PRIMARY KEY (id) WITH (fillfactor = 100)
  ) PARTITION BY RANGE (id);

  CREATE TABLE address_tx (
    address bytea NOT NULL,
    tx_id bigint NOT NULL,
    PRIMARY KEY (address, tx_id)
  ) PARTITION BY RANGE (tx_id);

  -- The first 8 bytes of a record's hash as a signed big-endian number; the record has all of it. Not strict: then
  -- the server puts its text in the place of every call.
  CREATE FUNCTION hash_key(rec bytea) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ('x' || encode(substring(rec from 2 for 8), 'hex'))::bit(64)::bigint;
  CREATE INDEX tx_hash_key ON tx (hash_key(rec));
  -- A table would hold, beside the same index, every key once more.
  CREATE VIEW tx_hash AS SELECT hash_key(rec) AS key, id AS tx_id FROM tx;

  -- token_id: empty for erc20, else its length in bytes, then big-endian, so that bytes sort as numbers; a range is
  -- the key of its first id and that of its last
  CREATE TABLE holding (
    owner bytea NOT NULL,
    contract bytea NOT NULL,
    token_id bytea NOT NULL,
    standard smallint NOT NULL,
    PRIMARY KEY (owner, contract, token_id, standard)
  );

  -- What one block does to one account besides its transactions
  CREATE TABLE account_event (
    address bytea NOT NULL,
    block bigint NOT NULL,
    rec bytea NOT NULL,
    sum integer,
    PRIMARY KEY (address, block)
  );
  -- By which a rollback finds them. Not simply the block: a planner that knows little would walk all blocks in the order of
  -- such an index to find those of one account.
  CREATE INDEX account_event_block ON account_event ((block + 0));

  -- Rows of address_tx of one block: no index finds them by block when a rollback must delete them
  CREATE TABLE undo (
    block bigint PRIMARY KEY,
    addresses bytea[] NOT NULL,
    tx_ids bigint[] NOT NULL,
    sum integer
  );
  ALTER TABLE undo ALTER COLUMN addresses SET STORAGE EXTERNAL, ALTER COLUMN tx_ids SET STORAGE EXTERNAL;

  CREATE TABLE reorged (
    hash bytea PRIMARY KEY,
    ancestor_number bigint NOT NULL,
    ancestor_hash bytea NOT NULL,
    sum integer
  );

  CREATE TABLE pool (
    id bigint PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,
    status smallint NOT NULL,
    first_seen_seconds bigint NOT NULL,
    rec bytea NOT NULL,
    sum integer
  );

  CREATE TABLE pool_address (
    address bytea NOT NULL,
    pool_id bigint NOT NULL,
    PRIMARY KEY (address, pool_id)
  );
  CREATE INDEX pool_address_pool_id ON pool_address (pool_id);

  -- Of entries that left the pool lately, in case a reorg brings them back
  CREATE TABLE first_seen (
    hash bytea PRIMARY KEY,
    first_seen_seconds bigint NOT NULL,
    left_at bigint NOT NULL,
    sum integer
  );
  CREATE INDEX first_seen_left_at ON first_seen (left_at);

  -- What was written into address_tx, as numbers by which a lost row shows. Rows as short as these, stored where they are,
  -- find room for their next version on their own page, so that a commit leaves nothing to be cleaned up.
  CREATE TABLE tally (
    page smallint PRIMARY KEY,
    rec bytea NOT NULL
  ) WITH (fillfactor = 50);
  INSERT INTO tally SELECT page, decode(repeat('00', 1024), 'hex') FROM generate_series(0, 63) AS page;

  -- keyed: number of the table; part: the first bits of keys; total: the exclusive or of the hashes of its rows. These hashes are
  -- as quick as reading the row, which MD5 is not. Partitioning by hash keeps them the same in every version.
  CREATE TABLE key_part (
    keyed smallint NOT NULL,
    part integer NOT NULL,
    total bigint NOT NULL,
    PRIMARY KEY (keyed, part)
  ) WITH (fillfactor = 50);

  -- The partitions that have rows of an address. bucket: the first two bytes of addresses; partition: its first id; prints: of
  -- each of these addresses the next three bytes, one after the other; null: any address of the bucket may be there.
  CREATE TABLE directory (
    bucket integer NOT NULL,
    partition bigint NOT NULL,
    prints bytea,
    PRIMARY KEY (bucket, partition)
  );

  -- What changed in histories, an entry or two for each commit; kind: its place in entryKinds, from 1 on.
  -- previous: the entry before. first_block, last_block: what it appends, removes or calls final. needs: the earliest of the
  -- entries that its changes are found by, besides its own bytes.
  CREATE TABLE change_log (
    entry bigint PRIMARY KEY,
    previous bigint NOT NULL,
    kind smallint NOT NULL,
    first_block bigint,
    last_block bigint,
    needs bigint,
    rec bytea NOT NULL,
    sum integer
  );
  CREATE INDEX change_log_appended ON change_log (last_block) WHERE kind = 1;
  CREATE INDEX change_log_removed ON change_log (entry) WHERE kind = 2;

  -- Written about once a second, each time with another beat
  CREATE TABLE writer_report (
    id smallint PRIMARY KEY CHECK (id = 1),
    beat bigint NOT NULL,
    phase text NOT NULL,
    head bigint,
    finalized bigint,
    indexed_to bigint,
    rolling_back_to bigint,
    pool_covered boolean NOT NULL,
    pool_age_ms bigint,
    problem text,
    head_seconds bigint,
    sum integer
  ) WITH (fillfactor = 50);

  CREATE FUNCTION row_sum(chain text, name text, whole jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ${rowSum('chain', 'name', 'whole')};
  -- Seals what the writer changes, which names its chain, and refuses to seal what is damaged; the report is written anew
  -- each time. A row that is changed without the writer keeps its checksum, or has none. Where a node of Citus has the table,
  -- its name there ends with the number of its shard.
  CREATE FUNCTION seal_row() RETURNS trigger LANGUAGE plpgsql SET bytea_output = 'hex' AS $$
  DECLARE
    chain text := current_setting('${writingChain}', true);
    name text := regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '');
  BEGIN
    IF coalesce(chain, '') = '' THEN
      RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND name <> 'writer_report' AND OLD.sum IS DISTINCT FROM ${rowSum('chain', 'name', 'to_jsonb(OLD)')} THEN
      RAISE EXCEPTION 'a row of % is not what was written', name USING ERRCODE = 'CD002', DETAIL = name;
    END IF;
    NEW.sum := ${rowSum('chain', 'name', 'to_jsonb(NEW)')};
    RETURN NEW;
  END
  $$;
  ${sealedTables
    .map(
      name =>
        `CREATE TRIGGER seal_row BEFORE INSERT OR UPDATE ON ${name} FOR EACH ROW EXECUTE FUNCTION seal_row();`
    )
    .join('\n  ')}
`

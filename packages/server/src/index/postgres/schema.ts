import type { Migration } from '../shared/checkMigrations.ts'

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

/** Written where it is needed: a trigger finds no function of its schema by itself. */
const rowSum = (whole: string, prefix = '') =>
  `('x' || substr(md5(${prefix}jsonb_strip_nulls(${whole} - 'sum')::text), 1, 8))::bit(32)::integer`

/** The same of a row of one table of one chain, so that a row of another one differs. */
const boundSum = (chain: string, table: string, whole: string) =>
  rowSum(whole, `${chain} || ' ' || ${table} || ' ' || `)

/** Name of the setting by which the trigger knows the writer's transactions: the id of the chain. */
export const writingChain = 'chain_data.chain'

/** A name that no other log has. */
export const newLogName = 'left(md5(random()::text || clock_timestamp()::text || pg_backend_pid()::text), 16)'

/**
 * Every step from an empty schema to today's, in order. Forward only: to change a table, append a step. Names are without
 * their schema: `migrate` runs the steps with that schema as the search path. From the tenth on, a step also has to run as the
 * body of a `DO` block, on tables that Citus has put on another node.
 *
 * Hashes and addresses are their raw bytes. `tx` and `address_tx` are cut by transaction id, so that random
 * inserts stay inside the newest part of each index; the writer makes the parts (`partitions.ts`).
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'index of one chain',
    sql: `
      -- indexed_from: absent while nothing is stored. transactions: how many are stored.
      -- degraded_until: final blocks were removed; over once this height is final again.
      -- settled: false from a rollback until the index is level with the node again.
      CREATE TABLE meta (
        id smallint PRIMARY KEY CHECK (id = 1),
        chain_id bigint NOT NULL,
        genesis_hash bytea NOT NULL,
        indexed_from bigint,
        transactions bigint NOT NULL DEFAULT 0,
        backfilled boolean NOT NULL DEFAULT false,
        settled boolean NOT NULL DEFAULT true,
        finalized bigint,
        degraded_until bigint,
        rollbacks bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 50);

      -- Who may write: each writer that takes over makes the term its own by counting it on.
      CREATE TABLE leader (
        id smallint PRIMARY KEY CHECK (id = 1),
        term bigint NOT NULL
      ) WITH (fillfactor = 50);
      INSERT INTO leader VALUES (1, 0);

      -- Begins every transaction that writes. Its lock keeps the next writer from taking over until that one has ended.
      CREATE FUNCTION check_term(mine bigint) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE
        newest bigint;
      BEGIN
        SELECT term INTO newest FROM leader WHERE id = 1 FOR SHARE;
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
        tx_count integer NOT NULL
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

      -- Rows of address_tx of one block: no index finds them by block when a rollback must delete them
      CREATE TABLE undo (
        block bigint PRIMARY KEY,
        addresses bytea[] NOT NULL,
        tx_ids bigint[] NOT NULL
      );
      ALTER TABLE undo ALTER COLUMN addresses SET STORAGE EXTERNAL, ALTER COLUMN tx_ids SET STORAGE EXTERNAL;

      CREATE TABLE reorged (
        hash bytea PRIMARY KEY,
        ancestor_number bigint NOT NULL,
        ancestor_hash bytea NOT NULL
      );

      CREATE TABLE pool (
        id bigint PRIMARY KEY,
        hash bytea NOT NULL UNIQUE,
        status smallint NOT NULL,
        first_seen_seconds bigint NOT NULL,
        rec bytea NOT NULL
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
        left_at bigint NOT NULL
      );
      CREATE INDEX first_seen_left_at ON first_seen (left_at);

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
        problem text
      ) WITH (fillfactor = 50);
    `
  },
  {
    version: 2,
    name: 'what is known besides transactions',
    sql: `
      -- Each holds from this block up to the head; absent: not even of the newest block.
      ALTER TABLE meta ADD COLUMN detailed_from bigint, ADD COLUMN traced_from bigint, ADD COLUMN tallied_from bigint;

      -- What one block does to one account besides its transactions
      CREATE TABLE account_event (
        address bytea NOT NULL,
        block bigint NOT NULL,
        rec bytea NOT NULL,
        PRIMARY KEY (address, block)
      );
      -- By which a rollback finds them. Not simply the block: a planner that knows little would walk all blocks in the order of
      -- such an index to find those of one account.
      CREATE INDEX account_event_block ON account_event ((block + 0));

      -- What was written into address_tx, as numbers by which a lost row shows. Rows as short as these, stored where they are,
      -- find room for their next version on their own page, so that a commit leaves nothing to be cleaned up.
      CREATE TABLE tally (
        page smallint PRIMARY KEY,
        rec bytea NOT NULL
      ) WITH (fillfactor = 50);
      INSERT INTO tally SELECT page, decode(repeat('00', 1024), 'hex') FROM generate_series(0, 63) AS page;
    `
  },
  {
    version: 3,
    name: 'operations, and the time of the head',
    sql: `
      -- First block from which on up to the head senders of operations, authorities of authorizations and logs of failed
      -- transactions are indexed; absent: not even of the newest block.
      ALTER TABLE meta ADD COLUMN operations_from bigint;
      ALTER TABLE writer_report ADD COLUMN head_seconds bigint;
    `
  },
  {
    version: 4,
    name: 'blocks held against their headers',
    sql: `
      -- First block from which on up to the head blocks were held against their headers when they were stored; absent: not even the newest.
      ALTER TABLE meta ADD COLUMN roots_from bigint;
    `
  },
  {
    version: 5,
    name: 'checksums of records and rows',
    sql: `
      -- First block from which on up to the head records, blocks and account events have checksums; absent: not even the newest.
      ALTER TABLE meta ADD COLUMN checked_from bigint;

      -- Checksum of a row: over all other columns that are not empty, by name. The first bits of MD5, which every server has.
      CREATE FUNCTION row_sum(whole jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN ${rowSum('whole')};
      CREATE FUNCTION seal_row() RETURNS trigger LANGUAGE plpgsql SET bytea_output = 'hex' AS $$
      BEGIN
        NEW.sum := ${rowSum('to_jsonb(NEW)')};
        RETURN NEW;
      END
      $$;
      DO $$
      DECLARE
        name text;
      BEGIN
        FOREACH name IN ARRAY ARRAY['meta', 'writer_report', 'block', 'account_event', 'undo', 'reorged', 'pool', 'first_seen'] LOOP
          EXECUTE format('ALTER TABLE %I ADD COLUMN sum integer', name);
          EXECUTE format('CREATE TRIGGER seal_row BEFORE INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION seal_row()', name);
        END LOOP;
      END
      $$;
      -- The other tables are long: the writer works through them.
      UPDATE meta SET sum = NULL;
      UPDATE writer_report SET sum = NULL;
      UPDATE undo SET sum = NULL;
      UPDATE reorged SET sum = NULL;
      UPDATE pool SET sum = NULL;
      UPDATE first_seen SET sum = NULL;
    `
  },
  {
    version: 6,
    name: 'checksums of one chain, by its writer alone',
    sql: `
      -- Newest stored block, so that one that is lost shows
      ALTER TABLE meta ADD COLUMN head bigint;

      CREATE FUNCTION row_sum(chain text, name text, whole jsonb) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
        RETURN ${boundSum('chain', 'name', 'whole')};
      -- Seals what the writer changes, which names its chain, and refuses to seal what is damaged; the report is written anew
      -- each time. A row that is changed without the writer keeps its checksum, or has none.
      CREATE OR REPLACE FUNCTION seal_row() RETURNS trigger LANGUAGE plpgsql SET bytea_output = 'hex' AS $$
      DECLARE
        chain text := current_setting('${writingChain}', true);
      BEGIN
        IF coalesce(chain, '') = '' THEN
          RETURN NEW;
        END IF;
        IF TG_OP = 'UPDATE' AND TG_TABLE_NAME <> 'writer_report'
          AND OLD.sum IS DISTINCT FROM ${boundSum('chain', 'TG_TABLE_NAME', 'to_jsonb(OLD)')}
          AND NOT (OLD.sum IS NULL AND TG_TABLE_NAME IN ('block', 'account_event')) THEN
          RAISE EXCEPTION 'a row of % is not what was written', TG_TABLE_NAME USING ERRCODE = 'CD002', DETAIL = TG_TABLE_NAME;
        END IF;
        NEW.sum := ${boundSum('chain', 'TG_TABLE_NAME', 'to_jsonb(NEW)')};
        RETURN NEW;
      END
      $$;
      SET LOCAL bytea_output = 'hex';
      DO $$
      DECLARE
        chain text := (SELECT chain_id FROM meta);
        name text;
      BEGIN
        FOREACH name IN ARRAY ARRAY['meta', 'writer_report', 'block', 'account_event', 'undo', 'reorged', 'pool', 'first_seen'] LOOP
          EXECUTE format('UPDATE %1$I SET sum = row_sum(%2$L, %1$L, to_jsonb(%1$I)) WHERE sum = row_sum(to_jsonb(%1$I))', name, chain);
        END LOOP;
        PERFORM set_config('${writingChain}', coalesce(chain, ''), true);
        UPDATE meta SET head = (SELECT max(number) FROM block);
        PERFORM set_config('${writingChain}', '', true);
      END
      $$;
      DROP FUNCTION row_sum(jsonb);
    `
  },
  {
    version: 7,
    name: 'log of changes',
    sql: `
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
      CREATE TRIGGER seal_row BEFORE INSERT OR UPDATE ON change_log FOR EACH ROW EXECUTE FUNCTION seal_row();

      -- Name of the log, the entry after which changes can be replayed, and the newest entry.
      ALTER TABLE meta ADD COLUMN changes_log text, ADD COLUMN changes_from bigint, ADD COLUMN changes_to bigint;
      SELECT set_config('${writingChain}', coalesce((SELECT chain_id FROM meta)::text, ''), true);
      UPDATE meta SET changes_log = ${newLogName}, changes_from = 0, changes_to = 0;
      SELECT set_config('${writingChain}', '', true);
    `
  },
  {
    version: 8,
    name: 'directory of addresses',
    sql: `
      -- The partitions that have rows of an address. bucket: the first two bytes of addresses; partition: its first id; prints: of
      -- each of these addresses the next three bytes, one after the other; null: any address of the bucket may be there.
      CREATE TABLE directory (
        bucket integer NOT NULL,
        partition bigint NOT NULL,
        prints bytea,
        PRIMARY KEY (bucket, partition)
      );
      -- The partitions from this block on, up to but not with this one, are listed; absent: none.
      ALTER TABLE meta ADD COLUMN directory_from bigint, ADD COLUMN directory_end bigint;
    `
  },
  {
    version: 9,
    name: 'tables on other nodes',
    sql: `
      -- Where a node of Citus has the table, its name there ends with the number of its shard.
      CREATE OR REPLACE FUNCTION seal_row() RETURNS trigger LANGUAGE plpgsql SET bytea_output = 'hex' AS $$
      DECLARE
        chain text := current_setting('${writingChain}', true);
        name text := regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '');
      BEGIN
        IF coalesce(chain, '') = '' THEN
          RETURN NEW;
        END IF;
        IF TG_OP = 'UPDATE' AND name <> 'writer_report'
          AND OLD.sum IS DISTINCT FROM ${boundSum('chain', 'name', 'to_jsonb(OLD)')}
          AND NOT (OLD.sum IS NULL AND name IN ('block', 'account_event')) THEN
          RAISE EXCEPTION 'a row of % is not what was written', name USING ERRCODE = 'CD002', DETAIL = name;
        END IF;
        NEW.sum := ${boundSum('chain', 'name', 'to_jsonb(NEW)')};
        RETURN NEW;
      END
      $$;

      -- As check_term, with the row of the term from the statement that calls it: a function cannot read a table of another node.
      CREATE FUNCTION require_term(mine bigint, newest bigint) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        IF newest IS DISTINCT FROM mine THEN
          RAISE EXCEPTION 'term % is over, the newest is %', mine, newest USING ERRCODE = 'CD001';
        END IF;
      END
      $$;
    `
  },
  {
    version: 10,
    name: 'sums of rows that are found by key',
    sql: `
      -- keyed: number of the table; part: the first bits of keys; total: the exclusive or of the hashes of its rows. These hashes are
      -- as quick as reading the row, which MD5 is not. Partitioning by hash keeps them the same in every version.
      CREATE TABLE key_part (
        keyed smallint NOT NULL,
        part integer NOT NULL,
        total bigint NOT NULL,
        PRIMARY KEY (keyed, part)
      ) WITH (fillfactor = 50);
      INSERT INTO key_part SELECT 0, (get_byte(address, 0) << 4) | (get_byte(address, 1) >> 4),
        bit_xor(hash_array_extended(ARRAY[address], pool_id)) FROM pool_address GROUP BY 2;
      INSERT INTO key_part SELECT 1, (get_byte(hash, 0) << 4) | (get_byte(hash, 1) >> 4),
        bit_xor(hash_array_extended(ARRAY[hash], 0)) FROM reorged GROUP BY 2;
      INSERT INTO key_part SELECT 2, get_byte(owner, 0),
        bit_xor(hash_array_extended(ARRAY[owner, contract, token_id], standard)) FROM holding GROUP BY 2;
      -- Listed anew: its rows had no sums.
      TRUNCATE directory;
      -- The setting is made where the table is.
      DO $$
      BEGIN
        PERFORM set_config('${writingChain}', chain_id::text, true) FROM meta;
        UPDATE meta SET directory_from = NULL, directory_end = NULL;
        PERFORM set_config('${writingChain}', '', true) FROM meta;
      END
      $$;
    `
  }
]

import { headTables } from '../store/schema.ts'

/**
 * Makes the tables of the index of one chain, in an empty schema that is the search path. None is cut into partitions: a page reads
 * by key, where a larger table costs a level of its index, and each partition costs a lock and a plan.
 */
export const indexTables = `${headTables({
  integer: 'bigint',
  bytes: 'bytea',
  suffix: '',
  keyedSuffix: '',
  singleSuffix: 'WITH (fillfactor = 50)'
})}
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

  -- id = block number * 65536 + index in the block
  CREATE TABLE tx (
    id bigint NOT NULL,
    rec bytea NOT NULL,
    -- Ids only ascend: no page has to leave room.
    PRIMARY KEY (id) WITH (fillfactor = 100)
  );

  -- Rows are written in the order of the key, and never changed.
  CREATE TABLE chunk (
    run bigint NOT NULL,
    number integer NOT NULL,
    section smallint NOT NULL,
    lower bytea NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (run, section, lower) WITH (fillfactor = 100)
  ) WITH (fillfactor = 100);
  -- Chunks are packed already: no compression is tried.
  ALTER TABLE chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;
`

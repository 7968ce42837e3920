import { headTables } from '../store/schema.ts'
import { chunkTables } from './chunks.ts'

/** Makes the tables of the index of one chain, in an empty file. */
export const indexTables = `${headTables({
  integer: 'INTEGER',
  bytes: 'BLOB',
  suffix: 'STRICT',
  keyedSuffix: 'STRICT, WITHOUT ROWID',
  singleSuffix: 'STRICT'
})}
  -- id = block number * 65536 + index in the block
  CREATE TABLE tx (id INTEGER PRIMARY KEY, rec BLOB NOT NULL) STRICT;
  ${chunkTables}`

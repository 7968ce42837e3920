import pg from 'pg'
import { StoreError } from '../src/platform/errors.ts'
import { chainSchema } from '../src/postgres/schema.ts'
import { type DumpLines, type DumpSection, dumpSections, type StoreDump, toDump } from './dumpStore.ts'

/** Each row as one text, in the order and the form of `dumpStore`. */
const selects: Readonly<Record<DumpSection, string>> = {
  meta: `SELECT coalesce(indexed_from::text, 'null') AS line FROM meta`,
  block: `SELECT concat_ws(' ', number, 'x' || encode(hash, 'hex'), 'x' || encode(parent_hash, 'hex'),
            timestamp_seconds, tx_count) AS line FROM block ORDER BY number`,
  tx: `SELECT concat_ws(' ', id, 'x' || encode(rec, 'hex')) AS line FROM tx ORDER BY id`,
  extra: `SELECT concat_ws(' ', number, 'x' || encode(rec, 'hex')) AS line FROM block_extra ORDER BY number`
}

/**
 * Dumps the PostgreSQL index of one chain, from one snapshot, also next to an open writer. The text is that of
 * `dumpStore`, so that indexes of both engines can be compared.
 * @param options.omit - sections to leave out.
 * @throws {StoreError} there is no such schema.
 */
export async function dumpPostgresStore(
  url: string,
  chainId: number,
  options: { readonly omit?: readonly DumpSection[] } = {}
): Promise<StoreDump> {
  const { omit = [] } = options
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    const schema = chainSchema(chainId)
    const found = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
    if (found.rowCount === 0)
      throw new StoreError(`there is no index of chain ${chainId} to dump`, { chainId })
    await client.query(`SET LOCAL search_path TO ${schema}`)
    const lines: DumpLines = {}
    for (const name of dumpSections) {
      if (omit.includes(name)) continue
      const { rows } = await client.query<{ line: string }>(selects[name])
      lines[name] = rows.map(({ line }) => line)
    }
    return toDump(lines)
  } finally {
    await client.end()
  }
}

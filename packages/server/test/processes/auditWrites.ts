import { chainSchema } from '@chain-data/index/test'
import pg from 'pg'

/** Keeps, inside the database, who has written to an index in which term. */
export interface Audit {
  /**
   * @returns what contradicts "one leader at a time": in the order of commits a term never goes back, and all that
   *   is written in one term is written by one connection.
   */
  faults(): Promise<readonly string[]>
  /** How often the leader has changed since the audit began, and how many statements were seen to write. */
  counts(): Promise<{ readonly terms: number; readonly writes: number }>
}

const tables = [
  ...['leader', 'block', 'block_extra', 'run', 'meta', 'pool', 'reorged', 'writer_report'],
  'change_log'
]

/**
 * Puts triggers on the tables of an index that exists. The notes are written by the transactions that they are about, so
 * that none is there of what was not committed.
 * @param url - of a test database whose server has `track_commit_timestamp = on`: without it nobody can say afterwards
 *   which transaction was committed first.
 */
export async function auditWrites(url: string, chainId: number): Promise<Audit> {
  const ask = async <Row extends pg.QueryResultRow>(sql: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const result: pg.QueryResult<Row> = await client.query(sql)
      return result.rows
    } finally {
      await client.end()
    }
  }
  const schema = chainSchema(chainId)
  await ask(`
    CREATE SCHEMA audit;
    CREATE TABLE audit.note (id bigserial PRIMARY KEY, pid integer, term bigint, what text);
    CREATE FUNCTION audit.write_down() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO audit.note (pid, term, what)
        SELECT pg_backend_pid(), term, TG_OP || ' ' || TG_TABLE_NAME FROM ${schema}.leader;
      RETURN NULL;
    END
    $$;
    ${tables
      .map(
        table => `CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${schema}.${table}
          FOR EACH STATEMENT EXECUTE FUNCTION audit.write_down();`
      )
      .join('\n')}
  `)
  const notes = () =>
    ask<{ pid: number; term: string; what: string }>(
      'SELECT pid, term, what FROM audit.note ORDER BY pg_xact_commit_timestamp(xmin), id'
    )
  return {
    async faults() {
      const found: string[] = []
      const leaders = new Map<number, number>()
      let newest = 0
      for (const { pid, term: text, what } of await notes()) {
        const term = Number(text)
        if (term < newest) found.push(`${what} by ${pid} in term ${term}, when term ${newest} had begun`)
        newest = Math.max(newest, term)
        const leader = leaders.get(term) ?? pid
        leaders.set(term, leader)
        if (leader !== pid) found.push(`${what} in term ${term} by ${pid}; that term is ${leader}'s`)
      }
      return found
    },
    async counts() {
      const all = await notes()
      return { terms: new Set(all.map(({ term }) => term)).size, writes: all.length }
    }
  }
}

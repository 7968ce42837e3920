import { setTimeout as sleep } from 'node:timers/promises'
import { chainSchema } from '@chain-data/index/test'
import pg from 'pg'

/** When something was first seen in the database, by `performance.now`. */
interface Takeover {
  /** A new term: whoever led before can write no more. */
  readonly termMs: number
  /** The new leader says how it stands. */
  readonly reportMs: number
  /** It has stored a block. */
  readonly commitMs: number
}

export interface LeaderWatch {
  /** Waits for the next leader from here on. @throws {Error} when all of it takes longer than a minute. */
  next(): Promise<Takeover>
  close(): Promise<void>
}

interface Look {
  readonly term: string
  readonly beat: string | null
  readonly height: string | null
}

const patienceMs = 60_000

/** Looks at an index again and again, some 300 times a second: the resolution of what it tells. */
export async function watchLeader(url: string, chainId: number): Promise<LeaderWatch> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const schema = chainSchema(chainId)
  const query = {
    name: 'look',
    text: `SELECT term, (SELECT beat FROM ${schema}.writer_report) AS beat,
      (SELECT max(number) FROM ${schema}.block) AS height FROM ${schema}.leader`
  }
  const look = async (): Promise<Look> => {
    const { rows } = await client.query<Look>(query)
    if (rows[0] === undefined) throw new Error('the index names no leader')
    return rows[0]
  }
  return {
    async next() {
      const deadline = performance.now() + patienceMs
      let old = await look()
      const found: { -readonly [key in keyof Takeover]?: number } = {}
      while (performance.now() < deadline) {
        const seen = await look()
        const nowMs = performance.now()
        if (seen.term === old.term) old = seen
        else {
          found.termMs ??= nowMs
          if (seen.beat !== old.beat) found.reportMs ??= nowMs
          if (Number(seen.height) > Number(old.height)) found.commitMs ??= nowMs
        }
        const { termMs, reportMs, commitMs } = found
        if (termMs !== undefined && reportMs !== undefined && commitMs !== undefined) {
          return { termMs, reportMs, commitMs }
        }
        await sleep(2)
      }
      throw new Error(`nobody has taken over within ${patienceMs} ms; seen: ${Object.keys(found)}`)
    },
    close: () => client.end()
  }
}

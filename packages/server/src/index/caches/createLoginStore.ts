import { randomBytes, randomUUID } from 'node:crypto'
import type { LoginFact, LoginFactKind, LoginStore } from '../../model/loginFact.ts'
import { chunk } from '../../platform/concurrency/permits.ts'
import { ask, type CacheDatabase, type Steps } from './cacheDatabase.ts'

export interface LoginStoreOptions {
  /** Facts that the store holds; beyond it those are removed first that were written first. Default: 100,000. */
  readonly maxFacts?: number
  /** Default: `Date.now`; replaced in tests. */
  readonly now?: () => number
}

interface FactRow {
  readonly kind: LoginFactKind
  readonly address: string
  readonly name: string
  readonly at: number
  readonly length: number
  readonly count: number
  readonly digest: string
  readonly forget_at: number
  readonly version: number
  readonly writer: string
}

const columns = 'kind, address, name, at, length, count, digest, forget_at, version, writer'
const readAtOnce = 1_000

/** Creates the store of what the login throttle remembers over the tables of an engine's `cacheDatabase.ts`. */
export function createLoginStore(
  database: CacheDatabase,
  { maxFacts = 100_000, now = Date.now }: LoginStoreOptions = {}
): LoginStore {
  const fact = `${database.prefix}fact`
  const state = `${database.prefix}state`
  const writer = randomUUID()
  /** Every write of a fact has a version of its own; what is newer has not been read yet. */
  let seenVersion = 0

  function* readSecret(): Steps<string> {
    const made = randomBytes(32).toString('base64url')
    yield* ask(`INSERT INTO ${state} (id, secret, version) VALUES (1, $1, 0) ON CONFLICT DO NOTHING`, made)
    const [row] = yield* ask<{ secret: string }>(`SELECT secret FROM ${state}`)
    if (row === undefined) throw new Error('the secret of the login store was not stored')
    return row.secret
  }

  function* readRows(): Steps<readonly FactRow[]> {
    return yield* ask<FactRow>(
      `SELECT ${columns} FROM ${fact} WHERE version > $1 ORDER BY version LIMIT ${readAtOnce}`,
      seenVersion
    )
  }

  function* write(facts: readonly LoginFact[]): Steps<void> {
    const [counted] = yield* ask<{ version: number }>(
      `UPDATE ${state} SET version = version + $1 RETURNING version`,
      facts.length
    )
    const newest = counted?.version ?? 0
    const rows = facts.map((each, index) => [
      ...[each.kind, each.address, each.name, each.atMs, each.lengthMs, each.count, each.digest],
      ...[each.forgetAtMs, newest - facts.length + index + 1, writer]
    ])
    for (const some of chunk(rows, database.maxRows)) {
      let n = 0
      const tuples = some.map(values => `(${values.map(() => `$${++n}`).join(', ')})`)
      yield* ask(
        `INSERT INTO ${fact} (${columns}) VALUES ${tuples.join(', ')}
         ON CONFLICT (kind, address, name) DO UPDATE SET at = excluded.at, length = excluded.length,
           count = excluded.count, digest = excluded.digest, forget_at = excluded.forget_at,
           version = excluded.version, writer = excluded.writer`,
        ...some.flat()
      )
    }
    yield* ask(`DELETE FROM ${fact} WHERE forget_at < $1`, now())
    yield* ask(`DELETE FROM ${fact} WHERE version <= $1`, newest - maxFacts)
  }

  return {
    readSecret: () => database.transaction('logins', readSecret()),
    async readNew() {
      const facts: LoginFact[] = []
      for (let isMore = true; isMore; ) {
        const rows = await database.run(readRows())
        isMore = rows.length === readAtOnce
        seenVersion = rows.at(-1)?.version ?? seenVersion
        for (const row of rows) {
          if (row.forget_at >= now() && row.writer !== writer) facts.push(toFact(row))
        }
      }
      return facts
    },
    write: facts => database.transaction('logins', write(facts)),
    close: () => database.close()
  }
}

function toFact({ kind, address, name, at, length, count, digest, forget_at }: FactRow): LoginFact {
  return { kind, address, name, atMs: at, lengthMs: length, count, digest, forgetAtMs: forget_at }
}

/**
 * A program of its own: one life of an indexer, which may end in the middle of a write. Argument: a {@link LifePlan} as
 * JSON. Prints a line for each new state, and one before it kills itself; SIGTERM ends it in good order.
 */
import { writeSync } from 'node:fs'
import { type IndexerConfig, runIndexer } from '../../src/indexer/runIndexer.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import type { SqliteConnection, SqliteDriver, SqliteStatement } from '../../src/store/sqlite/driver.ts'
import { loadSqliteDriver } from '../../src/store/sqlite/loadSqliteDriver.ts'
import { openSqliteWriter } from '../../src/store/sqlite/openSqliteWriter.ts'
import type { StoreWriter } from '../../src/store/store.ts'

/** What a life writes when it dies by its own hand. */
export type Deed = 'commit' | 'rollback' | 'pool'

export interface LifePlan {
  readonly folder: string
  readonly config: IndexerConfig
  /** Dies by SIGKILL before so many writing statements inside transactions of this deed are carried out, from 1. */
  readonly death?: { readonly in: Deed; readonly statement: number }
}

/** Small, so that a short chain has many epochs and rollbacks both with and without undo data. */
const layout = { epochTransactions: 60, minUndoBlocks: 8, maxUndoBlocks: 24 }

const plan = JSON.parse(process.argv[2] ?? '{}') as LifePlan
let doing: Deed | undefined
let statements = 0

/** At once and to the end, whatever happens to the process next. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

function step(): void {
  if (plan.death === undefined || doing !== plan.death.in || ++statements < plan.death.statement) return
  say(`dies in ${doing}`)
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}

/** Counts what is written between BEGIN and COMMIT; the COMMIT itself is the last that counts. */
function mortal(real: SqliteDriver): SqliteDriver {
  const wrap = (connection: SqliteConnection): SqliteConnection => {
    let isOpen = false
    return {
      exec(sql) {
        if (isOpen) step()
        connection.exec(sql)
        if (sql.startsWith('BEGIN')) isOpen = true
        if (sql === 'COMMIT' || sql === 'ROLLBACK') isOpen = false
      },
      prepare: <Row extends object>(sql: string): SqliteStatement<Row> => {
        const statement = connection.prepare<Row>(sql)
        return {
          run(parameters) {
            if (isOpen) step()
            return statement.run(parameters)
          },
          get: parameters => statement.get(parameters),
          all: parameters => statement.all(parameters)
        }
      },
      close: () => connection.close()
    }
  }
  return { name: real.name, open: (path, options) => wrap(real.open(path, options)) }
}

/** The store does each of its works in one go, so that nothing else comes in between. */
function told(writer: StoreWriter): StoreWriter {
  const during = <T>(deed: Deed, work: () => T): T => {
    doing = deed
    try {
      return work()
    } finally {
      doing = undefined
    }
  }
  const change: Partial<StoreWriter> = {
    commitBlocks: (...args) => during('commit', () => writer.commitBlocks(...args)),
    rollbackTo: (...args) => during('rollback', () => writer.rollbackTo(...args)),
    rollbackAll: (...args) => during('rollback', () => writer.rollbackAll(...args)),
    updatePool: (...args) => during('pool', () => writer.updatePool(...args))
  }
  return new Proxy(writer, {
    get(target, name) {
      const changed = change[name as keyof StoreWriter]
      if (changed !== undefined) return changed
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    }
  })
}

const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort(new Error('asked to stop')))
await runIndexer({
  config: plan.config,
  openWriter: async identity =>
    told(await openSqliteWriter(plan.folder, identity, { ...layout, driver: mortal(loadSqliteDriver()) })),
  peek: async () => undefined,
  logger: silentLogger,
  signal: stopping.signal,
  onStatus: ({ phase, indexedTo }) => say(`is ${phase} at ${indexedTo?.hash}`)
})

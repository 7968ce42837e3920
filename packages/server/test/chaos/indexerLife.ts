/**
 * A program of its own: one life of an indexer, which may end in the middle of a write, or lose its database there.
 * Argument: a {@link LifePlan} as JSON. Prints a line for each new state, and one before it kills itself or loses its
 * database; SIGTERM ends it in good order.
 */
import { writeSync } from 'node:fs'
import type { ChainIdentity, StoreLocation, StoreWriter } from '@chain-data/index'
import {
  type DatabaseDoor,
  loadSqliteDriver,
  openPostgresWriter,
  openSqliteWriter,
  startDatabaseDoor
} from '@chain-data/index/test'
import { silentLogger } from '../../src/platform/logger.ts'
import { runIndexer } from '../../src/server/indexer/runIndexer.ts'
import type { IndexerConfig } from '../../src/server/indexer/startIndexer.ts'
import { mortalDriver } from './mortalDriver.ts'
import { type Loss, takeAway } from './takeAway.ts'

/** What a life writes when it dies by its own hand. */
export type Deed = 'commit' | 'prepend' | 'rollback' | 'pool'

export interface LifePlan {
  readonly store: StoreLocation
  readonly config: IndexerConfig
  /**
   * Happens before so many steps of this deed are carried out, from 1, over all deeds of its kind: of SQLite a step is a
   * writing statement inside a transaction, of PostgreSQL a piece that is sent to the server.
   */
  readonly death?: {
    readonly in: Deed
    readonly step: number
    /** Absent: it dies by SIGKILL. Else it lives on without its database, and has to find it again. */
    readonly loses?: Loss
  }
}

/** Small, so that a short chain has merged runs, and rollbacks that remove runs and that cut them. */
const runs = { mergeFactor: 2, unmergedBlocks: 8, resealTransactions: 60 }

const plan = JSON.parse(process.argv[2] ?? '{}') as LifePlan
/** A look at the pool may begin beside a commit. */
const underWay: Deed[] = []
let steps = 0

/** At once and to the end, whatever happens to the process next. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

/** @returns what is lost now, unless it dies. */
function step(): Loss | undefined {
  if (plan.death === undefined || !underWay.includes(plan.death.in)) return undefined
  if (++steps !== plan.death.step) return undefined
  const { loses } = plan.death
  say(`${loses === undefined ? 'dies' : 'loses its database'} in ${plan.death.in}`)
  if (loses !== undefined) return loses
  process.kill(process.pid, 'SIGKILL')
  throw new Error('still alive')
}

async function openWriter(identity: ChainIdentity): Promise<StoreWriter> {
  if (plan.store.kind === 'sqlite') {
    const driver = mortalDriver(loadSqliteDriver(), step)
    return openSqliteWriter(plan.store.folder, identity, { ...runs, driver })
  }
  door ??= await openDoor(plan.store.url)
  return openPostgresWriter(door.url, identity, runs)
}

let door: DatabaseDoor | undefined

function openDoor(url: string): Promise<DatabaseDoor> {
  return startDatabaseDoor(url, async () => {
    const loss = step()
    if (loss === undefined) return 'pass'
    if (loss === 'connection') return 'cut'
    if (loss === 'answer') return 'unheard'
    await takeAway(url, loss)
    return 'pass'
  })
}

/** Keeps in mind which deeds are under way. */
function told(writer: StoreWriter): StoreWriter {
  const during = async <T>(deed: Deed, work: () => Promise<T>): Promise<T> => {
    underWay.push(deed)
    try {
      return await work()
    } finally {
      underWay.splice(underWay.indexOf(deed), 1)
    }
  }
  const change: Partial<StoreWriter> = {
    commitBlocks: (...args) => during('commit', () => writer.commitBlocks(...args)),
    prependBlocks: (...args) => during('prepend', () => writer.prependBlocks(...args)),
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
  openWriter: async identity => told(await openWriter(identity)),
  peek: async () => undefined,
  logger: silentLogger,
  signal: stopping.signal,
  onStatus: ({ phase, indexedFrom, indexedTo }) =>
    say(`is ${phase === 'following' && indexedFrom > 0 ? 'filled' : phase} at ${indexedTo?.hash}`)
})
await door?.close()

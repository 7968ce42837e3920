import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WriterState } from '../../src/index/port/writer.ts'
import { openSqliteWriter } from '../../src/index/sqlite/openWriter.ts'
import { hashOf } from '../../src/index/test/buildChain.ts'
import { commitChain } from '../../src/index/test/commitChain.ts'
import { dumpStore } from '../../src/index/test/dumpStore.ts'
import { lowestStart } from '../../src/model/startBlock.ts'
import type { SyncStatus } from '../../src/model/sync.ts'
import { type LogFields, type Logger, silentLogger } from '../../src/platform/logger.ts'
import { type FollowOptions, follow } from '../../src/server/indexer/follow.ts'
import { createIndexCounts, type IndexCounts } from '../../src/server/indexer/indexCounts.ts'
import { createStatusBoard } from '../../src/server/indexer/status.ts'
import { eventually } from '../support/indexHarness.ts'
import type { ScriptedNode } from './scriptedNode.ts'

const identity = { chainId: 31_337, genesisHash: hashOf('genesis') }

export interface RunningFollow {
  status(): SyncStatus
  readonly statuses: SyncStatus[]
  /** Pauses so far, in milliseconds. None takes time, unless `holdFrom` says so. */
  readonly waits: number[]
  readonly counts: Pick<IndexCounts, 'read'>
  readonly log: { readonly message: string; readonly fields: LogFields | undefined }[]
  until(what: string, test: (status: SyncStatus) => boolean): Promise<SyncStatus>
  /** Waits until the index follows the node's chain as it is now, and compares every row with it. */
  expectLevel(startBlock?: number): Promise<void>
  state(): Promise<WriterState>
  /** Ends the pause under way that is held. */
  release(): void
  /** Rejects when the indexer failed. */
  stop(): Promise<void>
}

/**
 * An indexer over a scripted node and a real store in `folder`.
 * @param options.holdFrom - pauses of so many milliseconds and more last until `release`.
 */
export async function runFollow(
  node: ScriptedNode,
  folder: string,
  {
    holdFrom = Number.POSITIVE_INFINITY,
    ...options
  }: Partial<FollowOptions> & { readonly holdFrom?: number } = {}
): Promise<RunningFollow> {
  const store = await openSqliteWriter(folder, identity)
  const { head, backfilled, degraded } = await store.state()
  const statuses: SyncStatus[] = []
  const board = createStatusBoard({
    ...{ chainId: 31_337, phase: 'backfilling', indexedFrom: lowestStart(options.startBlock ?? 0) },
    ...{ backfilled, degraded, poolCovered: false },
    ...(head === undefined ? {} : { indexedTo: head })
  })
  board.watch(status => void statuses.push(status))
  const counts = createIndexCounts(31_337)
  const stopping = new AbortController()
  const waits: number[] = []
  const log: RunningFollow['log'] = []
  const note = (message: string, fields?: LogFields) => void log.push({ message, fields })
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note }
  let release = () => {}
  const done = follow({
    ...{ source: node, store, identity, startBlock: 0, pollIntervalMs: 50, board, counts, logger },
    signal: stopping.signal,
    lowerHeadGraceMs: 0,
    async wait(ms, signal) {
      waits.push(ms)
      if (ms >= holdFrom) {
        await new Promise<void>(resolve => {
          release = resolve
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
      }
      await nextTurn()
    },
    ...options
  })
  let failure: unknown
  done.catch(error => {
    failure = error
  })
  const until: RunningFollow['until'] = (what, test) =>
    eventually(what, () => {
      if (failure !== undefined) throw failure
      return test(board.read()) && board.read()
    }).catch(error => {
      throw new Error(`${what}: ${error}; ${JSON.stringify(board.read())}`, { cause: error })
    })
  return {
    status: board.read,
    statuses,
    waits,
    counts,
    log,
    until,
    async expectLevel(startBlock = 0) {
      // The chain may change meanwhile.
      const newest = () => node.chain.at(-1)?.ref.hash
      await until('level', ({ phase, indexedTo }) => phase === 'following' && indexedTo?.hash === newest())
      const straight = join(folder, 'straight')
      const other = await openSqliteWriter(straight, identity, { lockWaitMs: 0 })
      try {
        await other.rollbackAll()
        await commitChain(other, node.chain.slice(startBlock))
      } finally {
        await other.close()
      }
      const [found, expected] = [dumpStore(folder, 31_337), dumpStore(straight, 31_337)]
      if (found.sha256 !== expected.sha256) throw new Error(`${found.text}\ninstead of\n${expected.text}`)
      if (!(await store.state()).settled) throw new Error('the index follows without being settled')
    },
    state: () => store.state(),
    release: () => release(),
    async stop() {
      stopping.abort(new Error('the test is over'))
      try {
        await done
      } finally {
        await store.close()
      }
    }
  }
}

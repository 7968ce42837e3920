import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SyncStatus, WriterState } from '@chain-data/index'
import { commitChain, dumpStore, eventually, hashOf, openSqliteWriter } from '@chain-data/index/test'
import { lowestStart, wantedStart } from '../../src/model/startBlock.ts'
import { pause } from '../../src/platform/concurrency/pause.ts'
import { type LogFields, type Logger, silentLogger } from '../../src/platform/logger.ts'
import { backfill } from '../../src/server/indexer/backfill.ts'
import { type FollowOptions, follow } from '../../src/server/indexer/follow.ts'
import { createIndexCounts, type IndexCounts } from '../../src/server/indexer/indexCounts.ts'
import { createStatusBoard } from '../../src/server/indexer/status.ts'
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
 * @param options.backfills - blocks older than the index are added.
 */
export async function runFollow(
  node: ScriptedNode,
  folder: string,
  {
    holdFrom = Number.POSITIVE_INFINITY,
    backfills = false,
    ...options
  }: Partial<FollowOptions> & { readonly holdFrom?: number; readonly backfills?: boolean } = {}
): Promise<RunningFollow> {
  const store = await openSqliteWriter(folder, identity)
  const { head, indexedFrom, backfilled, degraded } = await store.state()
  const { startBlock = 0 } = options
  const statuses: SyncStatus[] = []
  const board = createStatusBoard({
    ...{ chainId: 31_337, phase: 'backfilling', indexedFrom: indexedFrom ?? lowestStart(startBlock) },
    ...wantedStart(startBlock),
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
  const common = { source: node, store, startBlock: 0, board, counts, logger, signal: stopping.signal }
  const following = follow({
    ...{ ...common, identity, pollIntervalMs: 50, lowerHeadGraceMs: 0 },
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
  const filling =
    backfills && typeof startBlock === 'number'
      ? backfill({
          ...{ ...common, startBlock, chainId: 31_337, onDamage: () => {} },
          wait: (_, signal) => pause(1, signal)
        })
      : undefined
  const done = Promise.all([following, filling])
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

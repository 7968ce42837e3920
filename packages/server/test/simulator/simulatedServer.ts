import { IndexDamagedError, type StoreReader, type StoreWriter, type SyncStatus } from '@chain-data/index'
import { openSqliteReader, openSqliteWriter, type SqliteWriterOptions } from '@chain-data/index/test'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openAbortScope } from '../../src/platform/concurrency/deadline.ts'
import { backOffMs, pause } from '../../src/platform/concurrency/pause.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { backfill } from '../../src/server/indexer/backfill.ts'
import { type FollowOptions, follow } from '../../src/server/indexer/follow.ts'
import { Healer } from '../../src/server/indexer/Healer.ts'
import { createIndexCounts } from '../../src/server/indexer/indexCounts.ts'
import { scrubIndex } from '../../src/server/indexer/scrubIndex.ts'
import { createStatusBoard, describeProblem, reportStatus } from '../../src/server/indexer/status.ts'
import type { Handlers } from '../../src/server/methods/MethodContext.ts'
import { createGetTransactionsByAddress } from '../../src/server/methods/svc_getTransactionsByAddress.ts'
import { genesisHash } from './simulatedChain.ts'
import type { SimulatedDisk } from './simulatedDisk.ts'
import { chainId, type SimulatedNode } from './simulatedNode.ts'

/** How one server works; the same for all lives of a simulation. */
export interface ServerPlan
  extends Required<
    Pick<FollowOptions, 'pollIntervalMs' | 'window' | 'roundBlocks' | 'recentBlocks' | 'lowerHeadGraceMs'>
  > {
  readonly layout: SqliteWriterOptions
}

/** The real indexer, writer, store, reader and history method, on one thread. */
export interface SimulatedServer {
  readonly reader: StoreReader
  status(): SyncStatus
  readonly history: Handlers['svc_getTransactionsByAddress']
  /** Ends in good order. */
  stop(): Promise<void>
}

const identity = { chainId, genesisHash }
const restarts = { firstMs: 500, maxMs: 30_000 }
/** As in `runIndexer`. */
const damagedPauseMs = 1_000
const passSeconds = 10
const reportMs = 5_000
const cacheBytes = 100_000
/** Made once: it holds a table of addresses, which is the same for every seed. */
const formatAddress = createAddressFormat()

export async function startSimulatedServer(
  plan: ServerPlan,
  {
    disk,
    node,
    note,
    onEmptied
  }: {
    readonly disk: SimulatedDisk
    readonly node: SimulatedNode
    note(event: string): void
    /** Called when the chain has turned out not to have the first block of the index. */
    onEmptied(): void
  }
): Promise<SimulatedServer> {
  const { layout, ...pace } = plan
  const { folder } = disk
  const drivers = disk.drivers()
  const stopping = new AbortController()
  const { signal } = stopping
  const board = createStatusBoard({
    ...{ chainId, phase: 'starting', indexedFrom: 0, startBlock: 0 },
    ...{ backfilled: false, degraded: false, poolCovered: false }
  })
  board.watch(({ phase, indexedFrom, indexedTo, head, problem, rollingBackTo }) => {
    const range = `${indexedFrom} to ${indexedTo?.number}`
    note(`status: ${phase}, ${range} of ${head}${problem === undefined ? '' : `, ${problem}`}`)
    if (rollingBackTo === -1) onEmptied()
  })
  const reader = await openSqliteReader(folder, chainId, { driver: drivers.reader })
  const checked = await openSqliteReader(folder, chainId, { driver: drivers.check })

  const healer = new Healer({
    ...{ chainId, board, logger: silentLogger },
    fetchBlock: (number, _, blockSignal) => node.source.block(number, blockSignal)
  })

  /** As `runIndexer` does once it has heard the node. */
  async function indexOnce(): Promise<void> {
    await node.source.identity(signal)
    const store = await openSqliteWriter(folder, identity, { driver: drivers.writer, signal, ...layout })
    const stopReports = reportStatus({ store, board, everyMs: reportMs, logger: silentLogger })
    try {
      const counts = createIndexCounts(chainId)
      const { source } = node
      const common = { source, store, board, counts, startBlock: 0, logger: silentLogger, ...pace }
      const filling = openAbortScope([signal])
      let endRound = () => {}
      const filled = Promise.all([
        backfill({ ...common, chainId, signal: filling.signal, onDamage: damage => healer.report(damage) }),
        healer.healInto(store, filling.signal, () => endRound()),
        scrubIndex({ reader: checked, passSeconds, healer, board, signal: filling.signal })
      ])
      try {
        while (!signal.aborted) {
          const round = openAbortScope([signal])
          endRound = round.end
          try {
            await showState(store)
            await follow({
              ...common,
              identity,
              signal: round.signal,
              isParted: number => healer.isParted(number)
            })
          } catch (error) {
            if (signal.aborted || !(error instanceof IndexDamagedError)) throw error
            healer.report(error.damage)
            board.change({ phase: 'stalled', problem: describeProblem(error), rollingBackTo: undefined })
            await pause(damagedPauseMs, signal)
          } finally {
            round.end()
          }
        }
      } finally {
        filling.end()
        await filled
      }
    } finally {
      stopReports()
      await store.close().catch(() => undefined)
    }
  }

  async function showState(store: StoreWriter): Promise<void> {
    const { head, indexedFrom = 0, backfilled, degraded } = await store.state()
    board.change({
      ...{ indexedTo: head, indexedFrom, backfilled, degraded },
      ...{ phase: 'backfilling', problem: undefined, poolCovered: false, poolSeenAtMs: undefined }
    })
  }

  /** As `startIndexer` does with a thread that fails. */
  async function index(): Promise<void> {
    for (let crashes = 1; !signal.aborted; crashes++) {
      try {
        await indexOnce()
      } catch (error) {
        if (signal.aborted) return
        board.change({ phase: 'stalled', problem: describeProblem(error), rollingBackTo: undefined })
        await pause(backOffMs(restarts, crashes), signal)
      }
    }
  }

  const indexing = index()
  return {
    reader,
    status: board.read,
    history: createGetTransactionsByAddress({
      chains: new Map([[chainId, { chainId, reader, status: board.read }]]),
      maxUnpaged: null,
      serveWhileSyncing: true,
      cacheBytes,
      formatAddress,
      clock: systemClock
    }),
    async stop() {
      stopping.abort(new Error('the server stops'))
      await indexing
      await reader.close()
      await checked.close()
    }
  }
}

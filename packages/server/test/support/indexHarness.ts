import {
  type ConfirmedTransaction,
  openStoreReader,
  openStoreWriter,
  type PendingTransaction,
  type Snapshot,
  type StoreLocation,
  type SyncStatus
} from '@chain-data/index'
import { eventually, readChunks } from '@chain-data/index/test'
import { patient } from '../../../../.config/patience.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'
import { type RunIndexerOptions, runIndexer } from '../../src/server/indexer/runIndexer.ts'
import type { IndexerConfig } from '../../src/server/indexer/startIndexer.ts'
import type { WalkedChain, WalkedTransaction } from './walkChain.ts'

/** Where a test keeps an index; a text is a folder of SQLite. */
export type StorePlace = string | StoreLocation

function locationOf(place: StorePlace): StoreLocation {
  return typeof place === 'string' ? { kind: 'sqlite', folder: place } : place
}

/** An indexer in this thread, over a real store. */
export interface RunningIndexer {
  status(): SyncStatus
  /** Every status so far. */
  readonly statuses: SyncStatus[]
  until(what: string, test: (status: SyncStatus) => boolean, timeoutMs?: number): Promise<SyncStatus>
  /** Rejects when the indexer failed. */
  stop(): Promise<void>
}

export function runTestIndexer(
  place: StorePlace,
  config: Partial<IndexerConfig> & Pick<IndexerConfig, 'rpcUrls'>,
  logger: Logger = silentLogger,
  decode?: RunIndexerOptions['decode']
): RunningIndexer {
  const stopping = new AbortController()
  const statuses: SyncStatus[] = []
  const done = runIndexer({
    config: {
      chainId: 31337,
      startBlock: 0,
      finality: 'auto',
      pollIntervalMs: 25,
      rpcTimeoutMs: patient(3_000),
      ...config
    },
    openWriter: identity => openStoreWriter(locationOf(place), identity),
    peek: async () => undefined,
    decode,
    logger,
    signal: stopping.signal,
    onStatus: status => statuses.push(status)
  })
  let failure: unknown
  done.catch(error => {
    failure = error
  })
  const status = () => {
    const last = statuses.at(-1)
    if (last === undefined) throw new Error('no status yet')
    return last
  }
  return {
    status,
    statuses,
    until: (what, test, timeoutMs) =>
      eventually(
        `${what}; last: ${JSON.stringify(statuses.at(-1))}`,
        () => {
          if (failure !== undefined) throw failure
          return statuses.length > 0 && test(status()) && status()
        },
        timeoutMs
      ).catch(error => {
        throw new Error(
          `${error instanceof Error ? error.message : error}; now ${JSON.stringify(statuses.at(-1))}`,
          {
            cause: error
          }
        )
      }),
    stop() {
      stopping.abort(new Error('the test is over'))
      return done
    }
  }
}

export async function readIndex<T>(place: StorePlace, read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const reader = await openStoreReader(locationOf(place), 31337)
  try {
    const snapshot = await reader.openSnapshot()
    try {
      return await read(snapshot)
    } finally {
      await snapshot.close()
    }
  } finally {
    await reader.close()
  }
}

export function historyOf(place: StorePlace, address: string): Promise<ConfirmedTransaction[]> {
  return readIndex(place, async snapshot => {
    const all: ConfirmedTransaction[] = []
    for await (const chunk of readChunks(snapshot, address as `0x${string}`)) all.push(...chunk)
    return all
  })
}

export function poolOf(place: StorePlace, address: string): Promise<readonly PendingTransaction[]> {
  return readIndex(place, snapshot => snapshot.pending(address.toLowerCase() as `0x${string}`))
}

/**
 * Everything in which the index and the oracle disagree: `[]` when the index holds exactly the walked chain. Addresses
 * of `alsoAsk` must have no history beyond what the oracle knows.
 */
export function differences(
  place: StorePlace,
  chain: WalkedChain,
  alsoAsk: Iterable<string> = []
): Promise<string[]> {
  return readIndex(place, async snapshot => {
    const found: string[] = []
    const range = await snapshot.indexedRange()
    if (range?.to.hash !== chain.head.hash) {
      found.push(`indexed to ${JSON.stringify(range?.to)}, the head is ${JSON.stringify(chain.head)}`)
    }
    const histories = new Map<string, WalkedTransaction[]>()
    for (const transaction of chain.transactions.toReversed()) {
      for (const party of transaction.parties) {
        const history = histories.get(party)
        if (history === undefined) histories.set(party, [transaction])
        else history.push(transaction)
      }
    }
    for (const address of new Set([...chain.addresses, ...alsoAsk])) {
      const expected = histories.get(address) ?? []
      const actual: ConfirmedTransaction[] = []
      for await (const chunk of readChunks(snapshot, address as `0x${string}`)) actual.push(...chunk)
      const [wantedHashes, gotHashes] = [
        expected.map(({ record }) => record.hash),
        actual.map(({ hash }) => hash)
      ]
      const missing = wantedHashes.filter(hash => !gotHashes.includes(hash as `0x${string}`))
      const surplus = gotHashes.filter(hash => !wantedHashes.includes(hash))
      if (missing.length + surplus.length > 0 || actual.length !== expected.length) {
        found.push(
          `${address}: ${actual.length} transactions instead of ${expected.length}; missing: ${missing}; surplus: ${surplus}`
        )
        continue
      }
      for (const [place, { record }] of expected.entries()) {
        const [wanted, got] = [flat(record), flat(actual[place] ?? {})]
        if (wanted !== got) found.push(`${address} [${place}]: ${got} instead of ${wanted}`)
      }
    }
    return found
  })
}

/** One text per record, whatever the order of its keys and the case of its hex. */
function flat(record: object): string {
  const entries = Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(entries, (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value
  ).toLowerCase()
}

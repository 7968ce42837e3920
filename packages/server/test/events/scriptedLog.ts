import {
  type AccountChange,
  type Address,
  accountKeys,
  type ChangePosition,
  ChangesExpiredError,
  type Hash,
  type PendingTransaction,
  type Snapshot,
  type StoreReader
} from '@chain-data/index'
import { comparePositions } from '../../src/server/methods/cursor.ts'

const wholeEntry = 2 ** 32
const reader = ['openSnapshot', 'onCommit'] as const

/** A change as a test writes it: its position follows. */
export type ScriptedChange = AccountChange extends infer Change
  ? Change extends AccountChange
    ? Omit<Change, 'position'>
    : never
  : never

/** A log of changes in memory, written by a test. It says nothing of histories. */
export interface ScriptedLog {
  readonly reader: Pick<StoreReader, (typeof reader)[number]>
  /** One entry more, and a word to whoever listens. */
  commit(...changes: readonly ScriptedChange[]): void
  /** Entries up to this one are gone. */
  prune(entry: number): void
  /** Another index takes the place of this one. */
  reset(): void
  /** Commits that are not shown yet, as on a replica that is late. */
  lag: number
  isSettled: boolean
  /** The next reads fail so often. */
  failures: number
  /** The reading that streams share waits for it before each entry. */
  sharedReading: Promise<unknown> | undefined
  /** How often the log was read. */
  readonly reads: number
  readonly openSnapshots: number
  readonly listeners: number
}

export function createScriptedLog(): ScriptedLog {
  let entries: AccountChange[][] = []
  let [oldest, log] = [0, 1]
  const listeners = new Set<() => void>()
  const afterEntry = (entry: number): ChangePosition => ({ entry, index: wholeEntry })

  function open(): Snapshot {
    if (state.failures > 0) {
      state.failures--
      throw new Error('the store is away')
    }
    state.openSnapshots++
    const shown = entries.slice(0, entries.length - state.lag)
    const name = log.toString(16).padStart(16, '0')
    const snapshot = {
      version: undefined,
      changeBounds: async () => ({ log: name, oldest: afterEntry(oldest), newest: afterEntry(shown.length) }),
      marks: async () => ({
        ...{ backfilled: true, settled: state.isSettled, degraded: false },
        ...(shown.length > 2 && { finalized: shown.length - 2 })
      }),
      indexedRange: async () => ({
        from: 0,
        to: { number: shown.length, hash: hashOf(shown.length) },
        toTimestampSeconds: 1
      }),
      async requireKept(after: ChangePosition) {
        if (after.entry < oldest || after.entry > shown.length) throw new ChangesExpiredError('too old')
      },
      async *changes(after: ChangePosition, { watched, filter }: Parameters<Snapshot['changes']>[1] = {}) {
        state.reads++
        if (after.entry < oldest || after.entry > shown.length) throw new ChangesExpiredError('too old')
        for (const [at, changes] of shown.entries()) {
          const position = afterEntry(at + 1)
          if (comparePositions(position, after) <= 0) continue
          await new Promise(setImmediate)
          // What all streams share is read without a filter.
          if (filter === undefined) await state.sharedReading
          const found = changes
            .map(change => ({
              ...change,
              parties: change.parties.filter(party => watched?.includes(accountKeys([party])[0] ?? 0) ?? true)
            }))
            .filter(({ parties, position }) => parties.length > 0 && comparePositions(position, after) > 0)
          yield { changes: found, position }
        }
      },
      async close() {
        state.openSnapshots--
      }
    }
    return snapshot as unknown as Snapshot
  }

  const state = {
    ...{ lag: 0, isSettled: true, failures: 0, reads: 0, openSnapshots: 0 },
    sharedReading: undefined as Promise<unknown> | undefined,
    get listeners() {
      return listeners.size
    },
    reader: {
      openSnapshot: async () => open(),
      onCommit(listener: () => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
    },
    commit(...changes: readonly ScriptedChange[]) {
      const entry = entries.length + 1
      entries.push(
        changes.map((change, at) => ({ ...change, position: { entry, index: at * 4 } }) as AccountChange)
      )
      for (const listener of listeners) listener()
    },
    prune(entry: number) {
      oldest = entry
    },
    reset() {
      entries = []
      log++
      oldest = 0
      for (const listener of listeners) listener()
    }
  }
  return state
}

export function hashOf(number: number): Hash {
  return `0x${number.toString(16).padStart(64, '0')}`
}

export function addressOf(number: number): Address {
  return `0x${number.toString(16).padStart(40, '0')}`
}

/** A transaction that enters the pool. */
export function added(number: number, parties: readonly Address[], dataBytes = 0): ScriptedChange {
  const [from = addressOf(0), to] = parties
  const transaction: PendingTransaction = {
    ...{ hash: hashOf(number), from, ...(to && { to }), value: 1n, data: `0x${'ab'.repeat(dataBytes)}` },
    ...{
      gasLimit: 21_000n,
      nonce: BigInt(number),
      type: 0,
      gasPrice: 7n,
      status: 1,
      firstSeenSeconds: 1_700_000_000
    }
  }
  return { kind: 'added', hash: transaction.hash, parties, record: { status: 'pending', transaction } }
}

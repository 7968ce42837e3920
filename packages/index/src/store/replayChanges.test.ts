import { expect, test } from 'vitest'
import type { Address } from '../model/evm.ts'
import { accountKeys } from '../record/accountKeys.ts'
import { ChangeFilter } from '../record/ChangeFilter.ts'
import { encodeChanges, entryKinds, partiesOf } from '../record/changeEntries.ts'
import type { LogRow } from './ChangeLog.ts'
import { afterEntry, entriesAtOnce, type ReplayedRows, replayChanges } from './replayChanges.ts'

const [alice, bob] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const

/** Entries of which each ends one pool transaction of an account. */
function entriesOf(numbers: readonly number[], account: Address, before = 0): readonly LogRow[] {
  return numbers.map((entry, at) => {
    const rec = encodeChanges([{ kind: 'dropped', hash: hashOf(entry), parties: partiesOf([account]) }])
    const row = { kind: entryKinds.others, first_block: null, last_block: null, rec }
    return { ...row, entry, previous: numbers[at - 1] ?? before }
  })
}

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}` as const
const numbersFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => first + at * 10)

async function replay(log: readonly LogRow[], watched: Address, filter: ChangeFilter) {
  let rowsRead = 0
  const found = (entry: number, count: number) => log.filter(row => row.entry >= entry).slice(0, count)
  const rows: ReplayedRows = {
    rowsFrom: async entry => {
      const slice = found(entry, entriesAtOnce)
      rowsRead += slice.length
      return slice
    },
    firstFrom: async entry => found(entry, 1)[0],
    removal: async () => undefined,
    recordsOf: async () => new Map(),
    blockRef: async () => undefined
  }
  const bounds = { log: 'one', oldest: afterEntry(0), newest: afterEntry(log.at(-1)?.entry ?? 0) }
  const hashes: string[] = []
  const options = { watched: accountKeys([watched]), filter }
  for await (const { changes } of replayChanges(rows, bounds, bounds.oldest, options)) {
    hashes.push(...changes.map(({ hash }) => hash))
  }
  return { hashes, rowsRead }
}

test('a second replay for a quiet account reads only what is not a whole slice yet', async () => {
  const filter = new ChangeFilter()
  const log = entriesOf(numbersFrom(10, 10 * entriesAtOnce + 3), bob)
  expect(await replay(log, alice, filter)).toEqual({ hashes: [], rowsRead: log.length })
  expect(await replay(log, alice, filter)).toEqual({ hashes: [], rowsRead: 3 })
})

test('entries that the store has lost since the filter learned them hide nothing that was written in their place', async () => {
  const filter = new ChangeFilter()
  const kept = entriesOf(numbersFrom(10, 2 * entriesAtOnce), bob)
  const last = kept.at(-1)?.entry ?? 0
  await replay([...kept, ...entriesOf(numbersFrom(last + 10, 2 * entriesAtOnce), bob, last)], alice, filter)
  for (const count of [1, entriesAtOnce, 3 * entriesAtOnce]) {
    const others = numbersFrom(last + 15, count)
    const { hashes } = await replay([...kept, ...entriesOf(others, alice, last)], alice, filter)
    expect(hashes).toEqual(others.map(hashOf))
  }
})

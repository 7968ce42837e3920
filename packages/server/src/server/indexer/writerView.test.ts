import type { Hash, SyncStatus, WriterReport } from '@chain-data/index'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createStatusBoard } from './status.ts'
import { type StoredProgress, showWriter } from './writerView.ts'

const genesisHash: Hash = `0x${'6e'.repeat(32)}`
const blockAt = (number: number) => ({ number, hash: `0x${'00'.repeat(32)}` as const })

let statuses: SyncStatus[]
let genesis: Hash[]
let stored: StoredProgress | undefined
let looks: number
let stopping: AbortController
let showing: Promise<void>

/** What lies in the store from now on, with a new beat at each look. */
function lies(indexedTo: number | undefined, report?: Omit<WriterReport, 'beat'>): void {
  stored = {
    ...{ genesisHash, backfilled: true, degraded: false },
    ...(indexedTo === undefined
      ? {}
      : { range: { from: 2, to: blockAt(indexedTo), toTimestampSeconds: 1_000 + indexedTo } }),
    ...(report === undefined ? {} : { report: { ...report, beat: 0 } })
  }
}

async function nextStatus(): Promise<SyncStatus> {
  const before = statuses.length
  for (;;) {
    const last = statuses.at(-1)
    if (last !== undefined && statuses.length > before) return last
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

beforeEach(() => {
  statuses = []
  genesis = []
  looks = 0
  stored = undefined
  stopping = new AbortController()
  let beat = 0
  const board = createStatusBoard({
    ...{ chainId: 1, phase: 'starting', indexedFrom: 0, backfilled: false, degraded: false },
    poolCovered: false
  })
  board.watch(status => void statuses.push(status))
  showing = showWriter({
    ...{ board, startBlock: 0, silentAfterMs: 60_000, silentProblem: () => '', signal: stopping.signal },
    peek: async () => {
      looks++
      return stored?.report === undefined ? stored : { ...stored, report: { ...stored.report, beat: ++beat } }
    },
    onGenesis: hash => genesis.push(hash)
  })
})
afterEach(async () => {
  stopping.abort()
  await showing
})

it('what the writer says goes together with what the index holds by now, and the head is at least that', async () => {
  lies(7, { ...{ phase: 'following', head: 6, finalized: 3, indexedTo: 6 }, poolCovered: true })
  expect(await nextStatus()).toEqual({
    ...{ chainId: 1, phase: 'following', waiting: true, head: 7, finalized: 3, poolCovered: true },
    ...{ indexedFrom: 2, indexedTo: blockAt(7), backfilled: true, degraded: false },
    headTimestampSeconds: 1_007
  })
  expect(genesis).toEqual([genesisHash])
  // A node that shows less than the index has is shown as the writer shows it.
  lies(7, { ...{ phase: 'following', head: 5, indexedTo: 7 }, poolCovered: true })
  expect(await nextStatus()).toMatchObject({ head: 5, indexedTo: blockAt(7) })
  expect(genesis).toEqual([genesisHash])
})

it('what the writer does not say any more is taken away', async () => {
  lies(7, {
    ...{ phase: 'stalled', head: 9, indexedTo: 7, rollingBackTo: 5 },
    ...{ poolCovered: true, poolAgeMs: 5_000, problem: 'the node is silent' }
  })
  const first = await nextStatus()
  expect(first).toMatchObject({ phase: 'stalled', problem: 'the node is silent', rollingBackTo: 5 })
  expect(Date.now() - (first.poolSeenAtMs ?? 0)).toBeGreaterThanOrEqual(5_000)
  lies(undefined, { phase: 'backfilling', poolCovered: false })
  expect(await nextStatus()).toEqual({
    ...{ chainId: 1, phase: 'backfilling', waiting: true, poolCovered: false },
    ...{ indexedFrom: 0, backfilled: true, degraded: false }
  })
})

it('as long as nothing was heard, nothing is shown', async () => {
  lies(7)
  while (looks < 4) await new Promise(resolve => setTimeout(resolve, 10))
  expect(statuses).toEqual([])
  expect(genesis).toEqual([])
})

/** Whoever is listened to counts as silent at the first look. */
const impatient = { startBlock: 0, silentAfterMs: -1, silentProblem: () => 'nothing was said' }
const goingBack: SyncStatus = {
  ...{ chainId: 1, phase: 'backfilling', indexedFrom: 0, backfilled: true, degraded: false },
  ...{ poolCovered: false, rollingBackTo: 3 }
}

it('of a writer that has gone silent nobody is told how far it goes back', async () => {
  const board = createStatusBoard(goingBack)
  const over = new AbortController()
  await showWriter({
    ...{ ...impatient, board },
    peek: async () => undefined,
    onRead: () => over.abort(),
    signal: over.signal
  })
  const { rollingBackTo, ...rest } = goingBack
  expect(rollingBackTo).toBe(3)
  expect(board.read()).toEqual({
    ...{ ...rest, phase: 'stalled', waiting: true, problem: 'nothing was said' },
    stalledSinceMs: expect.any(Number)
  })
})

it('the board stays as it is once nobody waits any more, whatever a look under way finds', async () => {
  const board = createStatusBoard(goingBack)
  const over = new AbortController()
  let found: (progress: undefined) => void = () => {}
  const peek = () =>
    new Promise<undefined>(resolve => {
      found = resolve
    })
  const shown = showWriter({ ...impatient, board, peek, signal: over.signal })
  over.abort()
  found(undefined)
  await shown
  expect(board.read()).toEqual(goingBack)
})

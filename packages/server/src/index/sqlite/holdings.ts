import type { Address, HoldingCandidate } from '../../model/evm.ts'
import { addressBytes } from '../record/hexBytes.ts'
import { type HoldingColumns, toCandidate } from '../shared/rows.ts'
import type { ReadConnection } from './read.ts'

const rowsAtOnce = 128

/**
 * The holding candidates of one owner, each once, by contract, token id, last token id and standard. Every epoch has
 * its own ordered list, in which a candidate may appear again; all lists are read side by side, a page of each at a
 * time.
 * @param reads - asked before each page, so that reading stops when its snapshot is closed.
 */
export function* mergeHoldings(reads: () => ReadConnection, owner: Address): Generator<HoldingCandidate> {
  const key = addressBytes(owner)
  const heap: EpochCursor[] = []
  for (const { id } of reads().holdingEpochs.all([])) {
    const cursor = new EpochCursor(reads, id, key)
    if (cursor.advance()) {
      heap.push(cursor)
      siftUp(heap)
    }
  }
  let previous: HoldingColumns | undefined
  for (let first = heap[0]; first !== undefined; first = heap[0]) {
    const row = first.row
    if (previous === undefined || compareRows(previous, row) !== 0) yield toCandidate(owner, row)
    previous = row
    if (!first.advance()) {
      const last = heap.pop()
      if (last === undefined || last === first) continue
      heap[0] = last
    }
    siftDown(heap)
  }
}

/** One epoch's list, a page at a time. */
class EpochCursor {
  readonly #reads: () => ReadConnection
  readonly #epoch: number
  readonly #owner: Uint8Array
  #page: readonly HoldingColumns[] = []
  #at = -1
  /** Before every row there can be. */
  row: HoldingColumns = { contract: new Uint8Array(0), tokenId: new Uint8Array(0), standard: -1 }

  constructor(reads: () => ReadConnection, epoch: number, owner: Uint8Array) {
    this.#reads = reads
    this.#epoch = epoch
    this.#owner = owner
  }

  /** @returns whether there was another row. */
  advance(): boolean {
    this.#at++
    if (this.#at === this.#page.length) {
      const { contract, tokenId, standard } = this.row
      const after = [contract, tokenId, standard]
      this.#page = this.#reads().holdings.all([this.#epoch, this.#owner, ...after, rowsAtOnce])
      this.#at = 0
    }
    const row = this.#page[this.#at]
    if (row === undefined) return false
    this.row = row
    return true
  }
}

function compareRows(a: HoldingColumns, b: HoldingColumns): number {
  return (
    Buffer.compare(a.contract, b.contract) || Buffer.compare(a.tokenId, b.tokenId) || a.standard - b.standard
  )
}

function siftUp(heap: EpochCursor[]): void {
  for (let child = heap.length - 1; child > 0; ) {
    const parent = (child - 1) >> 1
    if (!swapIfLess(heap, child, parent)) return
    child = parent
  }
}

function siftDown(heap: EpochCursor[]): void {
  for (let parent = 0; ; ) {
    const left = parent * 2 + 1
    const [a, b] = [heap[left], heap[left + 1]]
    if (a === undefined) return
    const child = b !== undefined && compareRows(b.row, a.row) < 0 ? left + 1 : left
    if (!swapIfLess(heap, child, parent)) return
    parent = child
  }
}

function swapIfLess(heap: EpochCursor[], child: number, parent: number): boolean {
  const [lower, upper] = [heap[child], heap[parent]]
  if (lower === undefined || upper === undefined || compareRows(lower.row, upper.row) >= 0) return false
  heap[child] = upper
  heap[parent] = lower
  return true
}

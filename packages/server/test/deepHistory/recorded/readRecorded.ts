import { createHash } from 'node:crypto'
import type { Json, RecordedBlock, RecordedChain, Trace } from './recordBlocks.ts'
import { partiesOf } from './recordBlocks.ts'
import type { Stretch } from './stretch.ts'

export const hex = (value: bigint | number) => `0x${value.toString(16)}`

/** A recorded chain at the heights of a stretch, as a node answers it. */
export interface RecordedReader {
  readonly head: number
  /** Height of a block that was given out before. */
  heightWithHash(hash: string): number | undefined
  block(height: number, isWhole: boolean): Json
  receipts(height: number): readonly Json[]
  traces(height: number): readonly Json[]
  /** Where a transaction is. */
  place(hash: string): { readonly height: number; readonly index: number } | undefined
  /** Heights of blocks with transactions, within a range, ascending. */
  heights(from: number, to: number): readonly number[]
  /** Heights of the blocks in whose calls an address took part, ascending. */
  heightsOf(address: string): readonly number[]
  state(
    address: string,
    height: number
  ): { readonly nonce: number; readonly balance: bigint; readonly code: string }
}

export function readRecorded(
  { genesis, blocks, states }: RecordedChain,
  { head, up, down }: Stretch
): RecordedReader {
  const byHeight = new Map(blocks.map(recorded => [up(recorded.number), recorded]))
  const allHeights = [...byHeight.keys()]
  const places = new Map<string, { height: number; index: number }>()
  const ofAddress = new Map<string, number[]>()
  for (const [height, recorded] of byHeight) {
    for (const [index, { hash }] of recorded.block.transactions.entries())
      places.set(String(hash), { height, index })
    for (const party of partiesIn(recorded)) {
      const known = ofAddress.get(party)
      if (known === undefined) ofAddress.set(party, [height])
      else known.push(height)
    }
  }
  const heightsByHash = new Map<string, number>()
  function hashOf(height: number): string {
    const made = `0x${createHash('sha256').update(`block ${height}`).digest('hex')}`
    const hash = height === 0 ? String(genesis.hash) : made
    heightsByHash.set(hash, height)
    return hash
  }
  const atBlock = (height: number) => ({ blockNumber: hex(height), blockHash: hashOf(height) })

  /** The newest block with transactions that is not above a height. */
  function lastBefore(height: number): RecordedBlock | undefined {
    let [low, high] = [0, blocks.length]
    const recorded = down(height)
    while (low < high) {
      const middle = (low + high) >> 1
      if ((blocks[middle]?.number ?? 0) <= recorded) low = middle + 1
      else high = middle
    }
    return blocks[low - 1]
  }

  function block(height: number, isWhole: boolean): Json {
    const found = byHeight.get(height)
    const named = {
      ...{ number: hex(height), hash: hashOf(height) },
      ...(height > 0 && { parentHash: hashOf(height - 1) })
    }
    if (found === undefined) {
      const timestamp = lastBefore(height)?.block.timestamp ?? genesis.timestamp
      return { ...genesis, ...named, timestamp, transactions: [] }
    }
    const transactions = found.block.transactions.map(transaction =>
      isWhole ? { ...transaction, ...atBlock(height) } : transaction.hash
    )
    return { ...found.block, ...named, transactions }
  }

  return {
    ...{ head, block },
    heightWithHash: hash => heightsByHash.get(hash),
    receipts: height =>
      (byHeight.get(height)?.receipts ?? []).map(receipt => ({
        ...{ ...receipt, ...atBlock(height) },
        logs: receipt.logs.map(log => ({ ...log, ...atBlock(height) }))
      })),
    traces: height =>
      (byHeight.get(height)?.traces ?? []).map(trace => ({
        ...{ ...trace, blockHash: hashOf(height), blockNumber: height }
      })),
    place: hash => places.get(hash),
    heights: (from, to) => allHeights.filter(height => height >= from && height <= to),
    heightsOf: address => ofAddress.get(address) ?? [],
    state(address, height) {
      const known = states[address] ?? []
      const recorded = down(height)
      let [low, high] = [0, known.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((known[middle]?.[0] ?? 0) <= recorded) low = middle + 1
        else high = middle
      }
      const [, nonce, balance, code] = known[low - 1] ?? [0, 0, '0x0', '0x']
      return { nonce, balance: BigInt(balance), code }
    }
  }
}

function partiesIn({ block, traces }: RecordedBlock): ReadonlySet<string> {
  const named = [
    ...block.transactions.flatMap(({ from, to }) => [from, to]),
    ...traces.flatMap(trace => partiesOf(trace as Trace))
  ]
  return new Set(named.filter(party => typeof party === 'string').map(party => party.toLowerCase()))
}

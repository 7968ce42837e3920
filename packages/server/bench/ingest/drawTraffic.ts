import type { Random } from '../../../devnet/src/platform/createRandom.ts'

/*
 * How many logs a call of `Traffic.yul` writes, and how long its calldata is: together with the transfers and the plain payments of
 * the chain they have the quantiles that were measured on Ethereum.
 */

/** A piece of a distribution: up to this share of all calls, values between two bounds, small ones more often. */
type Piece = readonly [upTo: number, from: number, to: number]

/** Bytes of calldata. Of all transactions of the chain, three in five have at most 68. */
const calldataPieces: readonly Piece[] = [
  [0.14, 10, 68],
  [0.4, 69, 420],
  [0.77, 420, 900],
  [0.976, 900, 6_116],
  [1, 6_116, 42_000]
]
const logPieces: readonly Piece[] = [
  [0.18, 0, 0],
  [0.24, 1, 1],
  [0.3, 2, 2],
  [0.41, 3, 3],
  [0.76, 4, 8],
  [0.976, 8, 19],
  [1, 19, 60]
]

/** Kinds of `Traffic.yul`, each as often as it is listed; in front are transfers. */
const logKinds = [0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 5, 5] as const

const headLength = 6
const entryLength = 9

/** Draws the calldata of one call. @param drawAccount - numbers an account that logs may name. */
export function drawCall(random: Random, fails: boolean, drawAccount: () => number): Buffer {
  const share = () => random.below(2 ** 30) / 2 ** 30
  const rank = share()
  // Long calldata often comes with many logs.
  const logs = fails ? 0 : drawFrom(logPieces, random.below(10) < 6 ? rank : share(), share())
  const length = Math.max(drawFrom(calldataPieces, rank, share()), headLength + entryLength * logs)
  const data = Buffer.alloc(length)
  data.writeUInt32BE(random.below(2 ** 32), 0)
  data[4] = fails ? 1 : 0
  data[5] = logs
  const others = Array.from({ length: 1 + random.below(4) }, drawAccount)
  const party = () => (random.below(3) === 0 ? 0 : (others[random.below(others.length)] ?? 0))
  for (let i = 0; i < logs; i++) {
    const at = headLength + entryLength * i
    data[at] = logKinds[random.below(logKinds.length)] ?? 0
    data.writeUInt32BE(party(), at + 1)
    data.writeUInt32BE(party(), at + 5)
  }
  fillWords(random, data, headLength + entryLength * logs)
  return data
}

/** Fills the rest as ABI-encoded arguments look: words with an address, an amount, a small number or a hash. Very long data are packed. */
function fillWords(random: Random, data: Buffer, from: number): void {
  const filled = data.length > 6_116 ? [32] : [20, 20, 9, 2, 1, 1, 32]
  for (let at = from; at < data.length; at += 32) {
    const bytes = filled[random.below(filled.length)] ?? 32
    for (let i = at + 32 - bytes; i < Math.min(at + 32, data.length); i++) data[i] = random.below(256)
  }
}

function drawFrom(pieces: readonly Piece[], rank: number, within: number): number {
  const found = pieces.findIndex(([upTo]) => rank < upTo)
  const [, from, to] = pieces[found] ?? [1, 0, 0]
  return from + Math.floor(within ** 1.3 * (to - from + 1))
}

import type {
  Address,
  ConfirmedTransaction,
  Hash,
  HoldingCandidate,
  IndexedTransaction
} from '@chain-data/index'
import { type BlockRows, encodeBlock } from '@chain-data/index/record'

/** What the chain looks like; a change of any figure makes other results. */
export const chainFigures = {
  seed: 20_261_121,
  transactionsPerBlock: 150,
  /** Of 100 transactions, so many are token transfers (three parties); the rest are plain (two). */
  tokenTransfers: 55,
  /** Of 100 token transfers, so many name a token id. */
  nftTransfers: 5,
  contracts: 2_000,
  /** Of 1,000 parties, so many have never been seen before. */
  newParties: 150,
  /** One account receives every so many-th transaction. */
  whaleEvery: 10
} as const

/** The account with the long history. */
export const whale: Address = accountAddress(0)

/** The `index`-th account of the chain, in the order in which they appear first. */
export function accountAddress(index: number): Address {
  return `0x${mixedHex(index, 0x61636374, 5)}`
}

/** An account that is in no block. */
export function strangerAddress(index: number): Address {
  return `0x${mixedHex(index, 0x73747267, 5)}`
}

/** Numbers that look random and are the same for the same seed. */
export function createNumbers(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    return mix(state) / 2 ** 32
  }
}

/** Few accounts have most of the transactions: the lower half of all orders of magnitude half of them. */
export function skewedBelow(next: () => number, limit: number): number {
  return Math.floor(limit ** next())
}

export interface SyntheticChain {
  /** The next block, with so many transactions; by default as many as `chainFigures` says. */
  block(transactions?: number): BlockRows
  /** How many accounts have appeared. */
  accounts(): number
}

/**
 * A chain without end, as a verified and encoded block after the other.
 * @param hashOf - the hash of the block at a height.
 */
export function createSyntheticChain(hashOf: (number: number) => Hash = blockHash): SyntheticChain {
  const next = createNumbers(chainFigures.seed)
  const contracts = Array.from({ length: chainFigures.contracts }, (_, index): Address => {
    return `0x${mixedHex(index, 0x746f6b6e, 5)}`
  })
  let accounts = 1
  let number = -1
  let transactions = 0
  const party = (): Address => {
    if (next() * 1_000 < chainFigures.newParties) return accountAddress(accounts++)
    return accountAddress(Math.min(accounts - 1, skewedBelow(next, accounts)))
  }
  const below = (limit: number) => Math.floor(next() * limit)

  function transaction(blockNumber: number, index: number): IndexedTransaction {
    const from = party()
    const isToWhale = transactions++ % chainFigures.whaleEvery === 0
    const receiver = isToWhale ? whale : party()
    const isToken = next() * 100 < chainFigures.tokenTransfers
    const contract = contracts[skewedBelow(next, contracts.length)] ?? whale
    const amount = mixedHex(below(2 ** 31), index, 2).slice(0, 14)
    const gasPrice = BigInt(5_000_000_000 + below(2 ** 31))
    const gasSpent = isToken ? BigInt(35_000 + below(30_000)) : 21_000n
    const made: ConfirmedTransaction = {
      hash: `0x${mixedHex(transactions, 0x68617368, 8)}`,
      from,
      to: isToken ? contract : receiver,
      value: isToken ? 0n : BigInt(`0x${amount}`),
      data: isToken ? `0xa9059cbb${receiver.slice(2).padStart(64, '0')}${amount.padStart(64, '0')}` : '0x',
      gasLimit: gasSpent + 9_000n,
      nonce: BigInt(below(5_000)),
      type: 2,
      accessList: [],
      maxFeePerGas: gasPrice * 2n,
      maxPriorityFeePerGas: BigInt(below(2 ** 31)),
      blockNumber,
      index,
      timestampSeconds: 1_600_000_000 + blockNumber * 12,
      status: below(50) === 0 ? 4 : 3,
      gasPrice,
      gasSpent,
      feeWei: gasPrice * gasSpent
    }
    if (!isToken) return { transaction: made, parties: [...new Set([from, receiver])], candidates: [] }
    const parties = [...new Set([from, contract, receiver])]
    if (next() * 100 < chainFigures.nftTransfers) {
      const token = { contract, standard: 'erc721', tokenId: BigInt(below(10_000)) } as const
      const transfers = [{ ...token, from, to: receiver }]
      return { transaction: made, parties, candidates: [{ ...token, owner: receiver }], transfers }
    }
    const transfers = [
      { contract, standard: 'erc20' as const, from, to: receiver, amount: BigInt(`0x${amount}`) }
    ]
    const owners = [...new Set([from, receiver])]
    const candidates = owners.map((owner): HoldingCandidate => ({ owner, contract, standard: 'erc20' }))
    return { transaction: made, parties, candidates, transfers }
  }

  return {
    accounts: () => accounts,
    block(count = chainFigures.transactionsPerBlock) {
      number++
      const transactionsOfBlock: IndexedTransaction[] = []
      for (let index = 0; index < count; index++) {
        transactionsOfBlock.push(transaction(number, index))
      }
      return encodeBlock({
        ref: { number, hash: hashOf(number) },
        parentHash: hashOf(number - 1),
        timestampSeconds: 1_600_000_000 + number * 12,
        transactions: transactionsOfBlock
      })
    }
  }
}

export function blockHash(number: number): Hash {
  return `0x${mixedHex(number, 0x626c6f63, 8)}`
}

function mixedHex(index: number, purpose: number, words: number): string {
  let text = ''
  for (let word = 0; word < words; word++) {
    text += mix(Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(purpose + word, 0x85ebca6b))
      .toString(16)
      .padStart(8, '0')
  }
  return text
}

/** The finishing steps of murmur3: every bit of the number touches every bit of what comes out. */
function mix(number: number): number {
  let mixed = number ^ (number >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

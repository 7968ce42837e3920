import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type {
  Address,
  BlockRef,
  ConfirmedTransaction,
  Hash,
  IndexedBlock,
  StoreWriter
} from '@chain-data/index'
import {
  commitChain,
  formatOf,
  sqliteIndexTables as indexTables,
  openSqliteWriter
} from '@chain-data/index/test'

/** What is in the store; a change of any figure, or of how it is made, needs another `version`. */
export const datasetFigures = {
  version: 1,
  seed: 20_261_121,
  /** Transactions that name the one large account; half of them a known account as well. */
  ofWhale: 1_000_000,
  /** Transactions between two known accounts, spread among the others. */
  ofAccounts: 250_000,
  accounts: 4_000,
  transactionsPerBlock: 200
} as const

/** Figures of a data set. */
export type DatasetFigures = Readonly<Record<keyof typeof datasetFigures, number>>

export const chainId = 1
/** The account with the long history. */
export const whale: Address = addressOf('whale')

/** The `index`-th of the accounts that have some 250 transactions each. */
export function accountAt(index: number): Address {
  return addressOf(`account ${index}`)
}

/**
 * A folder with the store of the seeded chain, complete; written by the first call and kept for later ones.
 * @param figures - of a smaller data set.
 * @remarks Some minutes and half a gigabyte below `node_modules/.cache`.
 */
export async function prepareDataset(
  print: (line: string) => void,
  figures: DatasetFigures = datasetFigures
): Promise<string> {
  // A store of another format is refused.
  const size =
    figures === datasetFigures ? '' : `-${figures.ofWhale}-${figures.ofAccounts}-${figures.accounts}`
  const name = `chain-data-bench-http-v${figures.version}${size}-format${formatOf(indexTables)}`
  return keepStore(name, print, async writer => {
    for (const blocks of chain(figures)) await commitChain(writer, blocks)
  })
}

/** Returns the folder of a store, which is written by the first call and kept for later ones. @param name - of its folder. */
export async function keepStore(
  name: string,
  print: (line: string) => void,
  fill: (writer: StoreWriter) => Promise<void>
): Promise<string> {
  const folder = fileURLToPath(new URL(`../../../../node_modules/.cache/${name}`, import.meta.url))
  if (existsSync(folder)) return folder
  print('  writing the data set, once')
  const unfinished = `${folder}.new`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(unfinished, { recursive: true })
  const writer = await openSqliteWriter(unfinished, { chainId, genesisHash: hashOf('genesis') })
  await fill(writer)
  await writer.markBackfilled()
  await writer.close()
  // Under its name only once it is whole.
  renameSync(unfinished, folder)
  return folder
}

const blocksPerCommit = 25

function* chain(figures: DatasetFigures): Generator<readonly IndexedBlock[]> {
  const { seed, ofWhale, ofAccounts, accounts, transactionsPerBlock } = figures
  const random = createRandom(seed)
  const known = Array.from({ length: accounts }, (_, index) => accountAt(index))
  const contracts = Array.from({ length: 300 }, (_, index) => addressOf(`contract ${index}`))
  const pick = (from: readonly Address[]) => from[random.below(from.length)] ?? whale
  const stranger = (): Address => `0x${random.hex(20)}`
  const blockCount = (ofWhale + ofAccounts) / transactionsPerBlock
  const whaleShare = ofWhale / (ofWhale + ofAccounts)
  let parent: BlockRef | undefined
  for (let number = 0; number < blockCount; ) {
    const blocks: IndexedBlock[] = []
    for (; blocks.length < blocksPerCommit && number < blockCount; number++) {
      const ref = { number, hash: hashOf(`block ${number}`) }
      const timestampSeconds = 1_600_000_000 + number * 12
      const transactions = Array.from({ length: transactionsPerBlock }, (_, index) => {
        const ofLarge = index < transactionsPerBlock * whaleShare
        const from = ofLarge && random.below(2) === 0 ? stranger() : pick(known)
        const counterpart = ofLarge ? whale : pick(known)
        const place = { blockNumber: number, index, timestampSeconds }
        const { transaction, isCall } = makeTransaction(
          random,
          from,
          counterpart,
          () => pick(contracts),
          place
        )
        const parties = isCall
          ? [from, counterpart, ...(transaction.to === undefined ? [] : [transaction.to])]
          : [from, counterpart]
        return { transaction, parties: [...new Set(parties)], candidates: [] }
      })
      blocks.push({
        ref,
        parentHash: parent?.hash ?? hashOf('before everything'),
        timestampSeconds,
        transactions
      })
      parent = ref
    }
    yield blocks
  }
}

/** Calldata of a mainnet-like mix: plain transfers, token calls, and calls of many words such as swaps. */
function makeTransaction(
  random: Random,
  from: Address,
  counterpart: Address,
  contract: () => Address,
  place: Pick<ConfirmedTransaction, 'blockNumber' | 'index' | 'timestampSeconds'>
): { readonly transaction: ConfirmedTransaction; readonly isCall: boolean } {
  const kind = random.below(100)
  const isCall = kind >= 35
  const data = !isCall
    ? '0x'
    : kind < 80
      ? `0xa9059cbb${'00'.repeat(12)}${counterpart.slice(2)}${amountWord(random)}`
      : `0x${random.hex(4)}${words(random, 6 + random.below(20))}`
  const isLegacy = random.below(5) === 0
  const gasPrice = BigInt(5_000_000_000 + random.below(2 ** 31))
  const gasSpent = isCall ? BigInt(35_000 + random.below(200_000)) : 21_000n
  return {
    isCall,
    transaction: {
      hash: `0x${random.hex(32)}`,
      from,
      to: isCall ? contract() : counterpart,
      value: isCall ? 0n : BigInt(`0x${random.hex(8)}`),
      data: data as Hash,
      gasLimit: gasSpent + 9_000n,
      nonce: BigInt(random.below(5_000)),
      type: isLegacy ? 0 : 2,
      ...(isLegacy
        ? {}
        : {
            accessList: [],
            maxFeePerGas: gasPrice * 2n,
            maxPriorityFeePerGas: BigInt(random.below(2 ** 31))
          }),
      ...place,
      status: random.below(50) === 0 ? 4 : 3,
      gasPrice,
      gasSpent,
      feeWei: gasPrice * gasSpent
    }
  }
}

function amountWord(random: Random): string {
  return random.hex(7).padStart(64, '0')
}

/** ABI words: numbers, addresses and packed bytes in turn. */
function words(random: Random, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) {
    const kind = random.below(4)
    text +=
      kind === 0
        ? random.hex(32)
        : kind === 1
          ? random.hex(20).padStart(64, '0')
          : random.hex(4).padStart(64, '0')
  }
  return text
}

interface Random {
  below(bound: number): number
  hex(bytes: number): string
}

/** The same numbers for a seed in every run (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return {
    below: bound => next() % bound,
    hex: bytes => {
      let text = ''
      while (text.length < bytes * 2) text += next().toString(16).padStart(8, '0')
      return text.slice(0, bytes * 2)
    }
  }
}

function hashOf(name: string): Hash {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

function addressOf(name: string): Address {
  return hashOf(name).slice(0, 42) as Address
}

import { createHash } from 'node:crypto'
import type {
  AccountEvent,
  AccountEvents,
  Address,
  IndexCoverage,
  IndexedBlock,
  IndexedTransaction,
  InternalTransfer,
  Snapshot,
  TokenTransfer
} from '@chain-data/index'
import { toTransactionId } from '@chain-data/index/record'
import { emptySnapshot, encodeConfirmed } from '@chain-data/index/test'
import type { AccountAt, AccountState, TokenBalance } from '../accountState.ts'

/** What a model transaction does; amounts small, so that they often are the same. */
interface ModelTransaction {
  readonly from: Address
  /** Absent: it creates a contract. */
  readonly to?: Address
  readonly value: bigint
  readonly fee: bigint
  readonly hasFailed: boolean
  readonly transfers: readonly TokenTransfer[]
  readonly internal: readonly InternalTransfer[]
}

export interface ModelBlock {
  readonly transactions: readonly ModelTransaction[]
  readonly events: readonly AccountEvents[]
}

/** The state of a chain after each of its blocks, kept by rules of its own: what an account has is added up here, block by block. */
interface ModelState {
  readonly nonces: Map<Address, bigint>
  readonly balances: Map<Address, bigint>
  readonly tokens: Map<string, bigint>
}

export interface ModelChain {
  /** Block 0 is the genesis block. */
  readonly blocks: readonly IndexedBlock[]
  stateOf(account: Address, accountCode: AccountAt['code']): AccountState
}

export const zero: Address = `0x${'00'.repeat(20)}`
export const token: Address = `0x${'70'.repeat(20)}`

export function hashOf(name: string): `0x${string}` {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

/** Carries blocks out. Everyone has so much to begin with that nobody runs dry. */
export function runModel(plans: readonly ModelBlock[]): ModelChain {
  const state: ModelState = { nonces: new Map(), balances: new Map(), tokens: new Map() }
  const after = [copyOf(state)]
  const blocks: IndexedBlock[] = [blockOf(0, [], [])]
  for (const [place, { transactions, events }] of plans.entries()) {
    const number = place + 1
    const indexed = transactions.map((plan, index) => carryOut(state, plan, number, index))
    for (const { address, events: all } of events) {
      if (all.some(({ kind }) => kind === 'authorization'))
        indexed.push(carry(address, number, indexed.length))
      for (const event of all) apply(state, address, event)
    }
    blocks.push(blockOf(number, indexed, events))
    after.push(copyOf(state))
  }
  const at = (height: number) => {
    const found = after[height]
    if (found === undefined) throw new Error(`the model has no block ${height}`)
    return found
  }
  return {
    blocks,
    stateOf(account, code) {
      const accountAt = (height: number): AccountAt => ({
        nonce: at(height).nonces.get(account) ?? 0n,
        balance: balanceOf(at(height), account),
        code
      })
      const tokenAt = (name: { contract: Address; tokenId?: bigint }, height: number): TokenBalance => ({
        kind: 'read',
        amount: at(height).tokens.get(tokenPlace(account, name)) ?? 0n
      })
      return {
        now: accountAt(plans.length),
        accounts: async heights => heights.map(accountAt),
        balances: async (tokens, height) => tokens.map(name => tokenAt(name, height)),
        balanceAt: async (name, heights) => heights.map(height => tokenAt(name, height)),
        supplyAt: async (_, heights) => heights.map(() => ({ kind: 'read', amount: 0n })),
        operations: async () => [],
        hashAt: async height => blocks[height]?.ref.hash,
        block: async height => blocks[height]
      }
    }
  }
}

function balanceOf({ balances }: ModelState, account: Address): bigint {
  return 1_000_000n + (balances.get(account) ?? 0n)
}

function tokenPlace(account: Address, { contract, tokenId = 0n }: { contract: Address; tokenId?: bigint }) {
  return `${account} ${contract} ${tokenId}`
}

function copyOf({ nonces, balances, tokens }: ModelState): ModelState {
  return { nonces: new Map(nonces), balances: new Map(balances), tokens: new Map(tokens) }
}

function add<Key>(amounts: Map<Key, bigint>, key: Key, amount: bigint): void {
  amounts.set(key, (amounts.get(key) ?? 0n) + amount)
}

function carryOut(
  { nonces, balances, tokens }: ModelState,
  { from, to, value, fee, hasFailed, transfers, internal }: ModelTransaction,
  blockNumber: number,
  index: number
): IndexedTransaction {
  const nonce = nonces.get(from) ?? 0n
  add(nonces, from, 1n)
  add(balances, from, -fee)
  const created = to === undefined ? (hashOf(`${from} ${nonce}`).slice(0, 42) as Address) : undefined
  if (!hasFailed) {
    add(balances, from, -value)
    add(balances, to ?? created ?? zero, value)
    for (const moved of internal) {
      add(balances, moved.from, -moved.value)
      add(balances, moved.to, moved.value)
    }
    for (const moved of transfers) {
      // Tokens come from the zero address and go back to it without its having any.
      const amount = moved.standard === 'erc721' ? 1n : (moved.amount ?? 0n)
      const name = moved.standard === 'erc1155' ? moved : { contract: moved.contract }
      if (moved.from !== zero) add(tokens, tokenPlace(moved.from, name), -amount)
      if (moved.to !== zero) add(tokens, tokenPlace(moved.to, name), amount)
    }
  }
  const ends = [from, to, created].filter(address => address !== undefined)
  const others = hasFailed
    ? []
    : [...transfers.filter(({ isWrapping }) => !isWrapping), ...internal].flatMap(moved => [
        moved.from,
        moved.to
      ])
  return {
    transaction: {
      ...{ hash: hashOf(`transaction ${blockNumber} ${index}`), from, value, nonce },
      ...(to !== undefined && { to }),
      ...(created !== undefined && !hasFailed && { contractAddress: created }),
      ...{ data: '0x', gasLimit: 21_000n, type: 0, accessList: [] },
      ...{ blockNumber, index, timestampSeconds: blockNumber, status: hasFailed ? 4 : 3 },
      ...{ gasPrice: 1n, gasSpent: fee, feeWei: fee }
    },
    parties: [...new Set<Address>([...ends, ...others])],
    candidates: [],
    transfers: hasFailed ? [] : transfers,
    internal: hasFailed ? [] : internal
  }
}

/** A transaction of a stranger that carries authorizations of an account. */
function carry(authority: Address, blockNumber: number, index: number): IndexedTransaction {
  const sponsor: Address = `0x${'5e'.repeat(20)}`
  return {
    transaction: {
      ...{ hash: hashOf(`transaction ${blockNumber} ${index}`), from: sponsor, to: sponsor },
      ...{ value: 0n, nonce: 0n, data: '0x', gasLimit: 21_000n, type: 4, accessList: [] },
      ...{ blockNumber, index, timestampSeconds: blockNumber, status: 3 },
      ...{ gasPrice: 1n, gasSpent: 21_000n, feeWei: 21_000n }
    },
    ...{ parties: [sponsor, authority], candidates: [], transfers: [], internal: [] }
  }
}

function apply({ nonces, balances }: ModelState, account: Address, event: AccountEvent): void {
  if (event.kind === 'authorization') {
    if ((nonces.get(account) ?? 0n) === event.nonce) add(nonces, account, 1n)
  } else if (event.kind === 'creation') add(nonces, account, BigInt(event.count))
  else add(balances, account, event.kind === 'burn' ? -event.amount : event.amount)
}

function blockOf(
  number: number,
  transactions: readonly IndexedTransaction[],
  events: readonly AccountEvents[]
): IndexedBlock {
  return {
    ref: { number, hash: hashOf(`block ${number}`) },
    parentHash: hashOf(`block ${number - 1}`),
    timestampSeconds: number,
    isTraced: true,
    ...{ transactions, events }
  }
}

/** What is taken out of an index of a model. */
export interface Removed {
  readonly transactions?: readonly { readonly blockNumber: number; readonly index: number }[]
  readonly eventsOf?: readonly number[]
}

/**
 * An index of a model as one account's certificate reads it. It reports no damage, whatever was taken out: the sums alone have to
 * show it.
 */
export function snapshotOf(
  { blocks }: ModelChain,
  account: Address,
  options: { readonly removed?: Removed; readonly coverage?: IndexCoverage } = {}
): Snapshot {
  const { removed = {}, coverage = { tracedFrom: 0 } } = options
  const isTraced = coverage.tracedFrom !== undefined
  const isRemoved = ({ blockNumber, index }: { blockNumber: number; index: number }) =>
    removed.transactions?.some(lost => lost.blockNumber === blockNumber && lost.index === index) ?? false
  const own = blocks
    .flatMap(({ transactions }) => transactions)
    .filter(({ transaction, parties }) => parties.includes(account) && !isRemoved(transaction))
    .reverse()
  function* chunksOf(below: number) {
    const older = own.filter(({ transaction }) => transaction.blockNumber < below)
    for (let start = 0; start < older.length; start += 3) {
      const chunk = older.slice(start, start + 3)
      const records = chunk.map(({ transaction, transfers = [], internal = [] }) =>
        encodeConfirmed(transaction, { transfers, ...(isTraced && { internal }) })
      )
      yield {
        ids: chunk.map(({ transaction }) => toTransactionId(transaction)),
        bytes: Buffer.concat(records),
        missing: []
      }
    }
  }
  return {
    ...emptySnapshot,
    coverage: async () => coverage,
    async *auditedRecords() {
      yield* chunksOf(Number.POSITIVE_INFINITY)
    },
    async *records(_, { olderThan } = {}) {
      yield* chunksOf(olderThan?.blockNumber ?? Number.POSITIVE_INFINITY)
    },
    async storedBlock(number) {
      const block = blocks[number]
      return block && { ...block, transactionCount: block.transactions.length }
    },
    async *accountEvents(_, fromBlock = 0) {
      for (const { ref, events = [] } of blocks.slice(fromBlock)) {
        const found = events.filter(({ address }) => address === account).flatMap(entry => entry.events)
        const kept = isTraced
          ? found
          : found.filter(({ kind }) => kind !== 'creation' && kind !== 'reward' && kind !== 'burn')
        if (kept.length === 0 || removed.eventsOf?.includes(ref.number)) continue
        yield [{ blockNumber: ref.number, events: kept }]
      }
    },
    async *holdingCandidates() {
      for (const { transactions } of blocks) {
        for (const { transfers = [] } of transactions) {
          yield transfers.map(({ contract, standard, tokenId, lastTokenId }) => ({
            ...{ owner: account, contract, standard },
            ...(tokenId !== undefined && { tokenId }),
            ...(lastTokenId !== undefined && { lastTokenId })
          }))
        }
      }
    }
  }
}

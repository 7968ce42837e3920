import {
  type AccountEvent,
  type Address,
  type Hash,
  IndexDamagedError,
  type MissingPart,
  type TokenTransfer,
  type UserOperation
} from '@chain-data/index'
import { decodeDetailed, toPosition } from '@chain-data/index/record'
import { zeroAddress } from '../../../evm/blocks/log.ts'
import { type KnownTransaction, nativeMoves } from '../../../evm/blocks/nativeChange.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { TokenName } from './accountState.ts'
import { movedBy, tokenKey, tokenOf } from './changes.ts'
import { HeightSet } from './HeightSet.ts'
import type { AuditedRows } from './joinOlder.ts'
import { NumberSet } from './NumberSet.ts'

/** Sums of what was logged about one balance. */
export interface TokenSums {
  readonly token: TokenName
  transfers: number
  received: bigint
  sent: bigint
  /** Wrapping and unwrapping, which contracts log as well as transfers or instead of them. */
  wrappings: number
  wrapped: bigint
  unwrapped: bigint
}

/** A tuple that names the account as authority, and the block that it came in. */
export interface Authorization {
  readonly nonce: bigint
  readonly blockNumber: number
}

export interface NativeSums {
  received: bigint
  sent: bigint
  fees: bigint
  internalReceived: bigint
  internalSent: bigint
  withdrawals: bigint
  rewards: bigint
  tips: bigint
  minted: bigint
  burned: bigint
}

/** Sums of what the index has of an account above one height. */
export interface HistorySums {
  /** All transactions that the address index names, also up to that height. */
  readonly transactions: number
  readonly missing: readonly MissingPart[]
  /** Damage that ended a reading: what comes after it is not added up. */
  readonly damages: readonly IndexDamagedError[]
  /** More than `missing` lists. */
  readonly isMissingMore: boolean
  readonly sent: number
  readonly nonces: NumberSet
  /** Some were sent by transactions of types whose nonces follow rules of their chain. */
  readonly hasOddNonces: boolean
  readonly authorizations: readonly Authorization[]
  readonly creations: bigint
  /** Operations of the account, keys of `operationKey`. */
  readonly operations: ReadonlySet<string>
  /** There are more than `operations` holds. */
  readonly hasMoreOperations: boolean
  /** Blocks with an indexed transaction that may carry an authorization of the account (EIP-7702). */
  readonly setCodeBlocks: ReadonlySet<number>
  readonly native: NativeSums
  readonly tokens: ReadonlyMap<string, TokenSums>
  /** Keys of `candidateKey`: tokens that are to be among the candidates for holdings. */
  readonly wanted: ReadonlySet<string>
  /** Blocks of the index with a record of the account, or an event. */
  readonly heights: HeightSet
  /** There are more than `wanted` holds. */
  readonly isWantedMore: boolean
}

const amountParts = {
  withdrawal: 'withdrawals',
  reward: 'rewards',
  tip: 'tips',
  mint: 'minted',
  burn: 'burned'
} as const

/** Types whose nonce counts as Ethereum counts: legacy to set code. */
const lastKnownType = 4
const setCodeType = 4
const maxMissing = 1_000
const maxTokens = 20_000
const maxWanted = 200_000
const maxAuthorizations = 1_000
const maxOperations = 100_000
/** Maximum of blocks in which one nonce is tried: a tuple is sent again after it was used, and blocks come in order. */
const maxPerNonce = 8

/**
 * Reads the whole history of an account once.
 *
 * @param range.above - sums begin above this height.
 * @param range.indexedFrom - first block of the index.
 * @throws {Refusal} RESPONSE_TOO_LARGE: the account has had more tokens than can be checked in one answer.
 * @remarks Memory grows with the number of tokens, not of transactions.
 */
export async function sumHistory(
  snapshot: AuditedRows,
  account: Address,
  { above, indexedFrom }: { readonly above: number; readonly indexedFrom: number },
  onBlock: (blockNumber: number) => void
): Promise<HistorySums> {
  const sums = new Sums(account)
  await sums.takeDamage(() => sumRecords(sums, snapshot, account, { above, indexedFrom }, onBlock))
  await sums.takeDamage(() => sumEvents(sums, snapshot, account, above))
  return sums
}

async function sumRecords(
  sums: Sums,
  snapshot: AuditedRows,
  account: Address,
  { above, indexedFrom }: { readonly above: number; readonly indexedFrom: number },
  onBlock: (blockNumber: number) => void
): Promise<void> {
  for await (const chunk of snapshot.auditedRecords(account)) {
    sums.addMissing(chunk.missing)
    for (const { part, position } of chunk.missing) {
      if (part === 'alteredRecord') sums.heights.add(position.blockNumber)
    }
    for (const known of decodeDetailed(chunk)) {
      if (known.transaction.blockNumber > above)
        sums.add({ transaction: known.transaction, ...known.details })
    }
    sums.transactions += chunk.ids.length
    for (const id of chunk.ids) {
      const { blockNumber } = toPosition(id)
      if (blockNumber >= indexedFrom) sums.heights.add(blockNumber)
    }
    const oldest = chunk.ids.at(-1)
    if (oldest !== undefined) onBlock(toPosition(oldest).blockNumber)
  }
}

async function sumEvents(sums: Sums, snapshot: AuditedRows, account: Address, above: number): Promise<void> {
  for await (const blocks of snapshot.accountEvents(account)) {
    for (const { blockNumber, events } of blocks) {
      sums.heights.add(blockNumber)
      if (blockNumber > above) sums.addEvents(blockNumber, events)
    }
  }
}

class Sums implements HistorySums {
  transactions = 0
  sent = 0
  hasOddNonces = false
  creations = 0n
  readonly heights = new HeightSet()
  readonly damages: IndexDamagedError[] = []
  isMissingMore = false
  isWantedMore = false
  hasMoreOperations = false
  readonly operations = new Set<string>()
  readonly setCodeBlocks = new Set<number>()
  readonly missing: MissingPart[] = []
  readonly nonces = new NumberSet()
  readonly authorizations: Authorization[] = []
  readonly native: NativeSums = {
    ...{ received: 0n, sent: 0n, fees: 0n, internalReceived: 0n, internalSent: 0n },
    ...{ withdrawals: 0n, rewards: 0n, tips: 0n, minted: 0n, burned: 0n }
  }
  readonly tokens = new Map<string, TokenSums>()
  readonly wanted = new Set<string>()
  readonly #account: Address
  /** Blocks of each nonce. */
  readonly #authorized = new Map<bigint, readonly number[]>()

  constructor(account: Address) {
    this.#account = account
  }

  /** Keeps damage that a reading met, in place of failing. */
  async takeDamage(read: () => Promise<void>): Promise<void> {
    try {
      await read()
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      this.damages.push(error)
    }
  }

  addMissing(parts: readonly MissingPart[]): void {
    for (const part of parts) {
      if (part.part === 'record') this.transactions++
      if (this.missing.length < maxMissing) this.missing.push(part)
      else this.isMissingMore = true
    }
  }

  add(known: KnownTransaction): void {
    const { from, nonce, type, blockNumber, hash } = known.transaction
    if (type === setCodeType) this.setCodeBlocks.add(blockNumber)
    for (const operation of known.operations ?? []) {
      if (operation.sender !== this.#account) continue
      if (this.operations.size < maxOperations) this.operations.add(operationKey(hash, operation))
      else this.hasMoreOperations = true
    }
    if (from === this.#account) {
      this.sent++
      if (type > lastKnownType) this.hasOddNonces = true
      this.nonces.add(nonce)
    }
    const moves = nativeMoves(known, this.#account)
    const { native } = this
    native.received += moves.received
    native.sent += moves.sent
    native.fees += moves.fees
    native.internalReceived += moves.internalReceived
    native.internalSent += moves.internalSent
    for (const transfer of known.transfers ?? []) this.#addTransfer(transfer)
  }

  addEvents(blockNumber: number, events: readonly AccountEvent[]): void {
    for (const event of events) {
      if (event.kind === 'authorization') this.#addAuthorization({ blockNumber, nonce: event.nonce })
      else if (event.kind === 'creation') this.creations += BigInt(event.count)
      else addAmount(this.native, event)
    }
  }

  /** Remembers a tuple once for a block, and for few of its blocks: any account may send it again, and others need room. */
  #addAuthorization(authorization: Authorization): void {
    const { nonce, blockNumber } = authorization
    const heights = this.#authorized.get(nonce) ?? []
    if (heights.at(-1) === blockNumber || heights.length >= maxPerNonce) return
    if (this.authorizations.length >= maxAuthorizations) return
    this.#authorized.set(nonce, [...heights, blockNumber])
    this.authorizations.push(authorization)
  }

  #addTransfer(transfer: TokenTransfer): void {
    const { from, to, isWrapping } = transfer
    const isTo = to === this.#account
    const isFrom = from === this.#account
    // Wrapping names only its account: the zero address stands for the currency.
    if ((!isTo && !isFrom) || (isWrapping && this.#account === zeroAddress)) return
    const sums = this.#sumsOf(tokenOf(transfer))
    const amount = movedBy(transfer)
    if (isWrapping) {
      sums.wrappings++
      if (isTo) sums.wrapped += amount
      else sums.unwrapped += amount
    } else {
      sums.transfers++
      if (isTo) sums.received += amount
      if (isFrom) sums.sent += amount
    }
    if (isCandidate(transfer, this.#account)) this.#want(candidateKey(transfer))
  }

  #sumsOf(token: TokenName): TokenSums {
    const key = tokenKey(token)
    const known = this.tokens.get(key)
    if (known !== undefined) return known
    if (this.tokens.size >= maxTokens) {
      throw new Refusal(
        'RESPONSE_TOO_LARGE',
        `The account has had more than ${maxTokens} tokens: they cannot be checked in one answer.`,
        {}
      )
    }
    const sums = { token, transfers: 0, received: 0n, sent: 0n, wrappings: 0, wrapped: 0n, unwrapped: 0n }
    this.tokens.set(key, sums)
    return sums
  }

  #want(key: string): void {
    if (this.wanted.size < maxWanted) this.wanted.add(key)
    else if (!this.wanted.has(key)) this.isWantedMore = true
  }
}

/** Adds the amount of an event to the part of the native sum that it belongs to; others have none. */
export function addAmount(native: NativeSums, event: AccountEvent): void {
  if ('amount' in event) native[amountParts[event.kind]] += event.amount
}

/** Names an operation of a transaction in one text. */
export function operationKey(transaction: Hash, { entryPoint, userOpHash }: UserOperation): string {
  return `${transaction} ${entryPoint} ${userOpHash}`
}

/** Names a candidate for holdings in one text; see `HoldingCandidate`. */
export function candidateKey({
  contract,
  standard,
  tokenId = -1n,
  lastTokenId = -1n
}: Pick<TokenTransfer, 'contract' | 'standard' | 'tokenId' | 'lastTokenId'>): string {
  return `${contract} ${standard} ${tokenId} ${lastTokenId}`
}

/** Checks whether a transfer makes the account a candidate: a receiver always; a sender of erc20 or erc1155 may have kept some. */
function isCandidate({ from, to, standard }: TokenTransfer, account: Address): boolean {
  if (to === account) return true
  return standard !== 'erc721' && from === account && account !== zeroAddress
}

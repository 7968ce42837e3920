import type { Address, BlockRef, ConfirmedTransaction, InternalTransfer } from '../../../model/evm.ts'
import { isAbsent } from '../../../nodes/evm/rawFields.ts'

/** A block as far as its traces must agree with it. */
export interface TraceableBlock {
  readonly ref: BlockRef
  /** In block order. */
  readonly transactions: readonly TraceableTransaction[]
}

export type TraceableTransaction = Pick<ConfirmedTransaction, 'hash' | 'from' | 'to' | 'value' | 'status'>

/** One step of a transaction that may move native currency or use a nonce, in the words that all forms of traces share. */
export interface Frame {
  /** `delegate`: code of another account, run in the caller's place (DELEGATECALL, CALLCODE), which moves nothing. */
  readonly kind: 'call' | 'delegate' | 'create' | 'selfdestruct'
  /** 0 for the transaction itself; for a step inside another, one more than that has. */
  readonly depth: number
  readonly from: Address
  /** Receiver, created contract or beneficiary; absent for a creation that failed. */
  readonly to?: Address
  readonly value: bigint
  /** A creation that left no code. */
  readonly isEmpty?: boolean
  /** In the node's words. Absent: it succeeded, which is undone all the same where a step around it failed. */
  readonly error?: string
}

/** The EVM nests 1,024 calls in a transaction; in the last of them a contract may still destroy itself. */
export const deepestFrame = 1_025

export function isEmptyCode(code: unknown): boolean {
  return isAbsent(code) || code === '0x'
}

/**
 * Whether steps of one transaction are told of another account than the one in whose place the code around them runs, so that
 * transfers and nonces would be laid to accounts that have nothing to do with them.
 *
 * Besu tells such steps. By `trace_block`: a creation that cannot begin (its creator has too little to send) as one by which
 * the creator creates itself, with what its callers do afterwards inside of it; and of a transaction that creates a contract,
 * that contract as the creator of all others. By the `callTracer`: what delegated code does, of the account whose code it is.
 *
 * @param frames - in the order of execution, beginning with the transaction itself. Contracts that destroy themselves are
 *   passed over: see `foldFrames`.
 */
export function isEntangled(frames: readonly Frame[]): boolean {
  /** By depth: in whose place the code of the step runs; not known of a creation that failed. */
  const places: (Address | undefined)[] = []
  for (const { kind, depth, from, to } of frames) {
    if (kind === 'selfdestruct') continue
    const runner = places[depth - 1]
    if (runner !== undefined && (from !== runner || (kind === 'create' && to === runner))) return true
    places[depth] = kind === 'delegate' ? from : to
  }
  return false
}

/** What a transaction did inside, as far as it was not undone. */
export interface InnerEffects {
  /** In the order of execution; never of nothing. */
  readonly internal: readonly InternalTransfer[]
  /** How many nonces each account used to create contracts, or, without code, to be one; see `AccountEvent`. */
  readonly creations: ReadonlyMap<Address, number>
  /** What ceased to be, with a contract that was destroyed while it was its own beneficiary or was sent something afterwards. */
  readonly burnt: ReadonlyMap<Address, bigint>
  /** A contract that had been there before the transaction is among those that called for their end. */
  readonly endsOlder: boolean
}

/**
 * Creations that fail before they begin: the creator has not enough to send, calls are nested too deep, or its nonces are
 * used up. All others use a nonce, also when they fail.
 */
const failsBeforeNonce = /insufficient (balance|funds)|out ?of ?funds|too ?deep|depth|nonce/i
/** A contract writes the reason of its revert itself, and may write any of those words there. */
const isRevert = /revert/i

/**
 * Walks over the steps of one transaction and keeps what came of them. A step that failed takes with it all that is inside
 * of it, although the trace of that names no error.
 *
 * @param frames - in the order of execution, beginning with the transaction itself: its own value is no internal transfer,
 *   and its own creation uses the sender's nonce.
 * @param endsAll - as before Cancun, every contract that destroys itself is gone at the end of the transaction; else only
 *   one that was created in it (EIP-6780).
 */
export function foldFrames(frames: readonly Frame[], endsAll: boolean): InnerEffects {
  const internal: InternalTransfer[] = []
  const creations = new Map<Address, number>()
  const created = new Set<Address>()
  const ends = createEnds()
  /** By depth: in whose place the code of the step runs. */
  const places: Address[] = []
  let failedDepth = Number.POSITIVE_INFINITY
  let endsOlder = false

  const useNonce = (account: Address) => creations.set(account, (creations.get(account) ?? 0) + 1)

  for (const { kind, depth, from, to, value, error, isEmpty } of frames) {
    if (depth > failedDepth) continue
    failedDepth = error === undefined ? Number.POSITIVE_INFINITY : depth
    if (kind === 'create' && depth > 0 && usesNonce(error)) useNonce(from)
    if (error !== undefined || to === undefined) continue
    if (kind === 'selfdestruct') {
      // Of a contract that names itself and stays, anvil and reth tell the transfer before instead: nothing moved.
      if (from !== places[depth - 1]) continue
    } else places[depth] = kind === 'delegate' ? from : to
    if (kind === 'create') created.add(to)
    if (isEmpty) useNonce(to)
    const isOwnEnd = kind === 'selfdestruct' && from === to
    if (depth > 0 && value > 0n && kind !== 'delegate' && !isOwnEnd) {
      internal.push({ kind, from, to, value })
      ends.move(from, to, value)
    }
    if (kind === 'selfdestruct') {
      endsOlder ||= !created.has(from)
      if (endsAll || created.has(from)) ends.begin(from, isOwnEnd ? value : 0n)
    }
  }
  // Nonces end with the account.
  for (const account of ends.accounts()) creations.delete(account)
  return { internal, creations, burnt: ends.burnt(), endsOlder }
}

function usesNonce(error: string | undefined): boolean {
  return error === undefined || isRevert.test(error) || !failsBeforeNonce.test(error)
}

/** Accounts that are gone at the end of a transaction, and what is lost with them. */
function createEnds() {
  const lost = new Map<Address, bigint>()
  const add = (account: Address, amount: bigint) => {
    const before = lost.get(account)
    if (before !== undefined) lost.set(account, before + amount)
  }
  return {
    /** @param burnt - lost at once: what the account had, when it named itself. */
    begin(account: Address, burnt: bigint): void {
      if (!lost.has(account)) lost.set(account, burnt)
    },
    /** What comes to such an account from now on is lost, unless its code, which is there for a while, sends it on. */
    move(from: Address, to: Address, value: bigint): void {
      add(from, -value)
      add(to, value)
    },
    accounts: () => lost.keys(),
    burnt: () => new Map([...lost].filter(([, amount]) => amount > 0n))
  }
}

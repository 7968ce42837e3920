import type { Address, BlockRef, ConfirmedTransaction, InternalTransfer } from '@chain-data/index'
import { isAbsent } from '../../../nodes/evm/rawFields.ts'

/** The parts of a block that its traces must agree with. */
export interface TraceableBlock {
  readonly ref: BlockRef
  /** In block order. */
  readonly transactions: readonly TraceableTransaction[]
}

export type TraceableTransaction = Pick<ConfirmedTransaction, 'hash' | 'from' | 'to' | 'value' | 'status'>

/** One step of a transaction that may move native currency or use a nonce, in the words that all forms of traces share. */
export interface Frame {
  /** `delegate`: code of another account, run as the caller (DELEGATECALL, CALLCODE), which moves nothing. */
  readonly kind: 'call' | 'delegate' | 'create' | 'selfdestruct'
  /** 0 for the transaction itself; for a step inside another, one more than that has. */
  readonly depth: number
  readonly from: Address
  /** Receiver, created contract or beneficiary; absent for a creation that failed. */
  readonly to?: Address
  readonly value: bigint
  /** A creation that left no code. */
  readonly isEmpty?: boolean
  /** Error as the node words it. Absent: it succeeded, but is undone where a step around it failed. */
  readonly error?: string
}

/** The EVM nests 1,024 calls in a transaction; in the last of them a contract may still destroy itself. */
export const deepestFrame = 1_025

/** Steps by the names that nodes give them. Where a call sends no value, its `value` is that of the call around it. */
const steps: ReadonlyMap<string, { readonly kind: Frame['kind']; readonly sends: boolean }> = new Map([
  ['call', { kind: 'call', sends: true }],
  ['staticcall', { kind: 'call', sends: false }],
  ['delegatecall', { kind: 'delegate', sends: false }],
  ['callcode', { kind: 'delegate', sends: false }],
  ['create', { kind: 'create', sends: true }],
  ['create2', { kind: 'create', sends: true }],
  ['selfdestruct', { kind: 'selfdestruct', sends: true }],
  ['suicide', { kind: 'selfdestruct', sends: true }]
])

/** Finds a step by the name that a node gives it, in any case; `undefined` for what is none of the EVM. */
export const stepNamed = (name: unknown) =>
  typeof name === 'string' ? steps.get(name.toLowerCase()) : undefined

/** Quotes what a node sent, for a message. */
export const quote = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 80)

export function isEmptyCode(code: unknown): boolean {
  return isAbsent(code) || code === '0x'
}

/**
 * Reports whether steps of a transaction name another account than the one that the code around them runs as, so that transfers
 * and nonces would be attributed to accounts that took no part.
 *
 * Besu reports such steps. In `trace_block`, a creation that cannot begin (its creator has too little to send) appears as the
 * creator creating itself, with the later steps of its callers inside; and in a transaction that creates a contract, that
 * contract appears as the creator of all others. In the `callTracer`, steps of delegated code name the account of the code.
 *
 * @param frames - in the order of execution, beginning with the transaction itself. Self-destructs are skipped: see
 *   `foldFrames`.
 */
export function isEntangled(frames: readonly Frame[]): boolean {
  /** By depth: the account that the code of the step runs as; unknown for a failed creation. */
  const runners: (Address | undefined)[] = []
  for (const { kind, depth, from, to } of frames) {
    if (kind === 'selfdestruct') continue
    const runner = runners[depth - 1]
    if (runner !== undefined && (from !== runner || (kind === 'create' && to === runner))) return true
    runners[depth] = kind === 'delegate' ? from : to
  }
  return false
}

/** Effects of the steps inside a transaction that were not undone. */
export interface InnerEffects {
  /** In the order of execution; never with value 0. */
  readonly internal: readonly InternalTransfer[]
  /** How many nonces each account used to create contracts, or, without code, to be one; see `AccountEvent`. */
  readonly creations: ReadonlyMap<Address, number>
  /** Value lost with a destroyed contract that was its own beneficiary or received value afterwards. */
  readonly burnt: ReadonlyMap<Address, bigint>
  /** A contract that is older than the transaction called SELFDESTRUCT. */
  readonly endsOlder: boolean
}

/**
 * Creations that fail before they begin: the creator has not enough to send, calls are nested too deep, or its nonces are
 * used up. All others use a nonce, also when they fail.
 */
const failsBeforeNonce = /insufficient (balance|funds)|out ?of ?funds|too ?deep|depth|nonce/i
/** The reason of a revert is the contract's own text and may hold any of those words. */
const isRevert = /revert/i

/**
 * Walks the steps of one transaction and collects their effects. A failed step undoes all steps inside it, although their
 * traces name no error.
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
  /** By depth: the account that the code of the step runs as. */
  const runners: Address[] = []
  let failedDepth = Number.POSITIVE_INFINITY
  let endsOlder = false

  const useNonce = (account: Address) => creations.set(account, (creations.get(account) ?? 0) + 1)

  for (const { kind, depth, from, to, value, error, isEmpty } of frames) {
    if (depth > failedDepth) continue
    failedDepth = error === undefined ? Number.POSITIVE_INFINITY : depth
    if (kind === 'create' && depth > 0 && usesNonce(error)) useNonce(from)
    if (error !== undefined || to === undefined) continue
    if (kind === 'selfdestruct') {
      // For a contract that names itself and stays, anvil and reth repeat the transfer before: nothing moved.
      if (from !== runners[depth - 1]) continue
    } else runners[depth] = kind === 'delegate' ? from : to
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

/** Tracks accounts that are destroyed at the end of a transaction, and the value lost with them. */
function createEnds() {
  const lost = new Map<Address, bigint>()
  const add = (account: Address, amount: bigint) => {
    const before = lost.get(account)
    if (before !== undefined) lost.set(account, before + amount)
  }
  return {
    /** Notes a destroyed account. @param burnt - value lost at once: its balance, when it named itself. */
    begin(account: Address, burnt: bigint): void {
      if (!lost.has(account)) lost.set(account, burnt)
    },
    /** Notes a transfer: value sent to such an account is lost, unless its code sends it on in the same transaction. */
    move(from: Address, to: Address, value: bigint): void {
      add(from, -value)
      add(to, value)
    },
    accounts: () => lost.keys(),
    burnt: () => new Map([...lost].filter(([, amount]) => amount > 0n))
  }
}

import type { Address } from '@chain-data/index'
import type { NodeOutcome } from '../../../../nodes/evm/nodeCall.ts'
import { isAbsent, readCount, readObject, readQuantity, toQuantity } from '../../../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../../../nodes/evm/rpc.ts'
import type { BatchSize } from '../../../../nodes/upstreams/limits.ts'
import { chunk, mapConcurrently } from '../../../../platform/concurrency/permits.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../../../platform/errors.ts'
import { isRateRefusal } from './createPace.ts'

/** A number of an account after a block. Code as a number: 0 none, 1 of another account (EIP-7702), 2 its own. */
export type StateKind = 'nonce' | 'balance' | 'code'

export interface StateRead {
  readonly kind: StateKind
  readonly height: number
}

/** The method by which a node finds a transaction by its sender and nonce. */
export type NonceMethod = 'eth_getTransactionBySenderAndNonce' | 'ots_getTransactionBySenderAndNonce'

/** Reads what an account was after old blocks. */
export interface OldState {
  /**
   * Reads in batches, up to four at once.
   * @param onValue - gets each value as it comes, so that a call that is broken off has not worked for nothing.
   */
  read(
    reads: readonly StateRead[],
    signal: AbortSignal,
    onValue: (read: StateRead, value: bigint) => void
  ): Promise<void>
  /** Finds the blocks of the account's transactions by their nonces, as hints; absent: no node does. */
  readonly lookUp?: (
    nonces: readonly bigint[],
    signal: AbortSignal
  ) => Promise<readonly (number | undefined)[]>
}

const methods: Readonly<Record<StateKind, string>> = {
  nonce: 'eth_getTransactionCount',
  balance: 'eth_getBalance',
  code: 'eth_getCode'
}
const batchesAtOnce = 4

/**
 * @param options.maxCalls - returns how many calls may be sent together for other reasons.
 * @param options.size - maximum of calls that are sent together; it learns from what fails.
 * @param options.nonceMethod - absent: no node has one.
 */
export function createOldState(
  rpc: Pick<EvmRpc, 'batch'>,
  address: Address,
  {
    size,
    maxCalls: mayAsk,
    nonceMethod
  }: {
    readonly size: BatchSize
    maxCalls(): number
    readonly nonceMethod?: NonceMethod | undefined
  }
): OldState {
  const maxCalls = () => Math.min(size.current(), mayAsk())

  async function readPart(
    part: readonly StateRead[],
    signal: AbortSignal,
    onValue: (read: StateRead, value: bigint) => void
  ): Promise<void> {
    const calls = part.map(({ kind, height }) => ({
      method: methods[kind],
      params: [address, toQuantity(height)]
    }))
    try {
      const outcomes = await rpc.batch(calls, { signal })
      for (const [position, read] of part.entries()) onValue(read, readValue(read, outcomes[position]))
    } catch (error) {
      if (!(error instanceof NodeUnavailableError)) throw error
      if (part.length > 1 && isRateRefusal(error)) {
        for (const piece of chunk(part, Math.min(maxCalls(), Math.ceil(part.length / 2))))
          await readPart(piece, signal, onValue)
        return
      }
      // Too many at once, perhaps, or too slow: the next ones are fewer.
      size.refused(part.length)
      throw error
    }
  }

  async function lookUp(method: NonceMethod, nonces: readonly bigint[], signal: AbortSignal) {
    const asParameter = (nonce: bigint) =>
      method.startsWith('ots_') ? Number(nonce) : `0x${nonce.toString(16)}`
    const found = await rpc.batch(
      nonces.map(nonce => ({ method, params: [address, asParameter(nonce)] })),
      { signal }
    )
    const answers = found.map(outcome => (outcome.ok ? outcome.value : null))
    // Some nodes give the hash only.
    const hashes = answers.filter(answer => typeof answer === 'string')
    const named = await rpc.batch(
      hashes.map(hash => ({ method: 'eth_getTransactionByHash', params: [hash] })),
      { signal }
    )
    const byHash = new Map(hashes.map((hash, position) => [hash, named[position]]))
    return answers.map(answer => blockOf(typeof answer === 'string' ? valueIn(byHash.get(answer)) : answer))
  }

  return {
    async read(reads, signal, onValue) {
      await mapConcurrently(chunk(reads, maxCalls()), batchesAtOnce, part => readPart(part, signal, onValue))
    },
    ...(nonceMethod && {
      async lookUp(nonces, signal) {
        const found: (number | undefined)[] = []
        for (const piece of chunk(nonces, maxCalls()))
          found.push(...(await lookUp(nonceMethod, piece, signal)))
        return found
      }
    })
  }
}

/** @throws what the node's error was. */
function readValue({ kind, height }: StateRead, outcome: NodeOutcome | undefined): bigint {
  const what = `${methods[kind]} at block ${height}`
  if (outcome === undefined) throw new NodeContradictionError(`${what}: no answer`)
  if (!outcome.ok) throw outcome.error
  if (kind !== 'code') return readQuantity(outcome.value, what)
  if (outcome.value === '0x') return 0n
  return typeof outcome.value === 'string' && /^0xef0100[0-9a-f]{40}$/i.test(outcome.value) ? 1n : 2n
}

function valueIn(outcome: NodeOutcome | undefined): unknown {
  return outcome?.ok ? outcome.value : null
}

/** A hint: whatever is no block is none. */
function blockOf(transaction: unknown): number | undefined {
  if (isAbsent(transaction)) return undefined
  const { blockNumber } = readObject(transaction, 'transaction')
  return isAbsent(blockNumber) ? undefined : readCount(blockNumber, 'transaction: blockNumber')
}

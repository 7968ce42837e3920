import type { Address, Hex } from '@chain-data/index'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { ReturnData } from './abi.ts'
import { multicallProgram } from './multicallProgram.gen.ts'

/** One read of an untrusted contract. */
export interface ContractCall {
  readonly to: Address
  readonly data: Hex
  /** All the gas it may burn; bounds time on the node and, as memory costs gas, what can be returned. */
  readonly gas: number
  /** Gas of a second attempt after a failure, for reads whose honest cost varies widely. */
  readonly generousGas?: number
  /** More than this counts as a failure. */
  readonly maxReturnBytes: number
}

export type CallResult =
  /** Empty data is what an address without code answers, or a contract whose fallback took the call. */
  | { readonly kind: 'returned'; readonly data: ReturnData }
  /** The contract itself refused. */
  | { readonly kind: 'reverted' }
  /** Out of gas, invalid instruction, too much returned, too slow: nothing can be concluded. */
  | { readonly kind: 'failed' }

/** The result of one call of an exchange. */
export type AttemptResult =
  | CallResult
  /** It was seen to use up all the gas it was given. */
  | { readonly kind: 'burnt' }
  | { readonly kind: 'tooLong' }
  /** Not attempted, or without the gas it was promised. */
  | undefined

export const programBytes = (multicallProgram.length - 2) / 2
/**
 * The longest input of one call: what initcode may have (EIP-3860) without our code. In hex this also stays below 100 kB,
 * the longest body that some proxies take.
 */
const maxInputBytes = 49_152 - programBytes
/** Bytes of an entry without the call's own data. */
const entryHeadBytes = 30

/** Returns the bytes that a call adds to the input of the multicall. */
function entryBytes({ data }: ContractCall): number {
  return entryHeadBytes + (data.length - 2) / 2
}

/** With the canary a batch of 100. */
const maxCallsPerBatch = 99

interface ChunkLimits {
  readonly calls: number
  /** For plain calls: all that they may burn together. Absent: they share one input. */
  readonly gas?: number
}

/**
 * Shares calls out to exchanges, in their order.
 * @param indexes - which of the calls.
 */
export function chunkCalls(
  calls: readonly ContractCall[],
  indexes: readonly number[],
  limits: ChunkLimits
): readonly (readonly number[])[] {
  const room = limits.gas ?? maxInputBytes
  const maxCalls = limits.gas === undefined ? limits.calls : Math.min(limits.calls, maxCallsPerBatch)
  const chunks: number[][] = []
  let used = 0
  for (const index of indexes) {
    const call = calls[index]
    if (call === undefined) continue
    const size = limits.gas === undefined ? entryBytes(call) : call.gas
    const last = chunks.at(-1)
    if (last === undefined || last.length >= maxCalls || used + size > room) {
      chunks.push([index])
      used = size
    } else {
      last.push(index)
      used += size
    }
  }
  return chunks
}

/**
 * The input of the multicall, as hex digits without `0x`.
 * @param maxResultBytes - the most bytes of results, heads included.
 * @see contracts/Multicall.yul
 */
export function encodeCalls(calls: readonly ContractCall[], maxResultBytes: number): string {
  const entries = calls.map(({ to, data, gas, maxReturnBytes }) => {
    const digits = data.slice(2)
    return `${to.slice(2)}${hex(gas, 4)}${hex(maxReturnBytes, 4)}${hex(digits.length / 2, 2)}${digits}`
  })
  return hex(maxResultBytes, 4) + entries.join('')
}

function hex(value: number, bytes: number): string {
  return value.toString(16).padStart(bytes * 2, '0')
}

const magic = Buffer.from('chain-data multicall result:').toString('hex')
const headDigits = 8

/**
 * Reads what the multicall answered.
 * @param data - hex digits without `0x`.
 * @param calls - how many were sent.
 * @returns one result per call; `undefined` when the multicall did not write this.
 * @throws {NodeContradictionError} it begins as the multicall would and goes on otherwise.
 */
export function readResults(data: string, calls: number): AttemptResult[] | undefined {
  if (!data.startsWith(magic)) return undefined
  let at = magic.length
  const take = (digits: number) => {
    const part = data.slice(at, at + digits)
    if (part.length < digits) throw new NodeContradictionError('the result of a multicall is cut short')
    at += digits
    return part
  }
  const count = Number(`0x${take(headDigits)}`)
  if (count > calls || (count === 0 && calls > 0)) {
    throw new NodeContradictionError(`a multicall of ${calls} calls answered ${count}`)
  }
  const results = new Array<AttemptResult>(calls).fill(undefined)
  for (let index = 0; index < count; index++) {
    const outcome = take(2)
    results[index] = readOutcome(outcome, take(Number(`0x${take(6)}`) * 2))
  }
  if (at !== data.length) throw new NodeContradictionError('the result of a multicall is too long')
  return results
}

function readOutcome(outcome: string, data: string): AttemptResult {
  switch (outcome) {
    case '00':
      return { kind: 'returned', data }
    case '01':
      return { kind: 'reverted' }
    case '02':
      return { kind: 'burnt' }
    case '03':
      return { kind: 'tooLong' }
    case '04':
      return undefined
    default:
      throw new NodeContradictionError(`a multicall answered the outcome ${outcome}`)
  }
}

import { NodeContradictionError } from '../../platform/errors.ts'
import type { CallResult } from './contractCall.ts'

/** One call's part of an exchange. */
export type AttemptResult =
  | CallResult
  /** It was seen to use up all the gas it was given. */
  | { readonly kind: 'burnt' }
  | { readonly kind: 'tooLong' }
  /** Not attempted, or without the gas it was promised. */
  | undefined

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
  for (let place = 0; place < count; place++) {
    const outcome = take(2)
    results[place] = readOutcome(outcome, take(Number(`0x${take(6)}`) * 2))
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

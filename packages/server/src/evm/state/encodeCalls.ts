import type { ContractCall } from './contractCall.ts'

/** Bytes of an entry without the call's own data. */
const entryHeadBytes = 30

/** What a call adds to the input of the multicall. */
export function entryBytes({ data }: ContractCall): number {
  return entryHeadBytes + (data.length - 2) / 2
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

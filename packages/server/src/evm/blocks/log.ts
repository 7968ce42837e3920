import type { Address, Hex } from '@chain-data/index'
import { asBytes, asHex, type RawObject } from '../../nodes/evm/rawFields.ts'

/** A well-formed log. */
export interface Log {
  readonly address: Address
  readonly topics: readonly Hex[]
  /** Without the 0x. */
  readonly data: string
}

/** Hex digits in one ABI word. */
export const word = 64
/** Zero bytes before an address in its word; a word without them is no address. */
const beforeAddress = `0x${'0'.repeat(24)}`
export const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

/** Reads a log; absent where it is malformed. */
export function readLog({ address, topics, data }: RawObject): Log | undefined {
  const read = (topics as readonly unknown[]).map(topic => asHex(topic, word))
  const emitter = asHex(address, 40)
  const bytes = asBytes(data ?? '0x')
  if (emitter === undefined || bytes === undefined || read.includes(undefined)) return undefined
  return { address: emitter, topics: read as Hex[], data: bytes.slice(2) }
}

/** Reads the address in a word; absent where the word is no address. */
export function addressInWord(value: string | undefined): Address | undefined {
  return value?.startsWith(beforeAddress) ? `0x${value.slice(beforeAddress.length)}` : undefined
}

/** Returns the word that begins at a hex digit of the data. */
export function wordAt(data: string, place: number): Hex {
  return `0x${data.slice(place, place + word)}`
}

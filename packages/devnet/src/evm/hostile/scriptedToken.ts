import { AbiCoder, getBytes, hexlify, id, toBeHex, zeroPadValue } from 'ethers'
import { creationOf } from './hostileContract.ts'

/** What a {@link scriptedToken} does when it is asked; the order is the contract's. */
const acts = [
  'return',
  'revert',
  'returnZeros',
  'revertZeros',
  'returnText',
  'loop',
  'loopStorage',
  'invalid'
] as const

/** One thing to do: `data` (0x-hex) for `return` and `revert`, `size` in bytes for those of zeros. */
export interface ScriptedAnswer {
  readonly act: (typeof acts)[number]
  readonly size?: number
  readonly data?: string
}

/** A log to be written at creation. */
export interface ScriptedLog {
  readonly topics: readonly string[]
  readonly data: string
}

/** Selectors of what a service asks a token; `otherwise` stands for everything without an answer of its own. */
const selectors = {
  balanceOf: '0x70a08231',
  decimals: '0x313ce567',
  name: '0x06fdde03',
  symbol: '0x95d89b41',
  ownerOf: '0x6352211e',
  tokenURI: '0xc87b56dd',
  unitsOf: '0x00fdd58e',
  uri: '0x0e89341c',
  supportsInterface: '0x01ffc9a7',
  otherwise: '0xffffffff'
} as const

/** Answers by question. What is not in it reverts. */
export type Script = Partial<Record<keyof typeof selectors, ScriptedAnswer>>

const abi = AbiCoder.defaultAbiCoder()

/** Creation code of a contract that answers by a script. */
export function scriptedToken(script: Script, logs: readonly ScriptedLog[]): string {
  const answers = Object.entries(script).map(([question, { act, size = 0, data = '0x' }]) => ({
    selector: selectors[question as keyof Script],
    act: acts.indexOf(act),
    size,
    data
  }))
  return creationOf('ScriptedToken', [answers, logs])
}

/** Answers a number, or an address, as one word. */
export function word(value: bigint | string): ScriptedAnswer {
  return { act: 'return', data: wordHex(value) }
}

/** Answers these bytes as they are. */
export function bytes(data: string | Uint8Array): ScriptedAnswer {
  return { act: 'return', data: hexlify(data) }
}

/** Answers a well-formed string; bytes need not be UTF-8. */
export function text(value: string | Uint8Array): ScriptedAnswer {
  const content = typeof value === 'string' ? new TextEncoder().encode(value) : value
  return { act: 'return', data: abi.encode(['bytes'], [content]) }
}

/** Answers text of at most 32 bytes as `bytes32`, the way of tokens from before strings. */
export function bytes32Text(value: string): ScriptedAnswer {
  const content = new Uint8Array(32)
  content.set(new TextEncoder().encode(value))
  return bytes(content)
}

/** Never ends, in steps that take much time for their gas. */
export const loops: ScriptedAnswer = { act: 'loop' }
/** Never ends, in steps that are so dear that the gas is gone after a short time, on slow nodes too. */
export const loopsDearly: ScriptedAnswer = { act: 'loopStorage' }
/** Burns all gas at once. */
export const invalid: ScriptedAnswer = { act: 'invalid' }
/** Refuses without a word. */
export const reverts: ScriptedAnswer = { act: 'revert' }
/** Answers nothing. */
export const empty: ScriptedAnswer = { act: 'return' }
/** So many bytes of zeros. */
export const zeros = (size: number): ScriptedAnswer => ({ act: 'returnZeros', size })
/** Refuses with so many bytes of zeros. */
export const revertsWithZeros = (size: number): ScriptedAnswer => ({ act: 'revertZeros', size })
/** A well-formed string of so many zero bytes. */
export const longText = (size: number): ScriptedAnswer => ({ act: 'returnText', size })

const nobody = `0x${'00'.repeat(20)}`
const transfer = id('Transfer(address,address,uint256)')

function wordHex(value: bigint | string): string {
  return typeof value === 'string' ? zeroPadValue(value, 32) : toBeHex(value, 32)
}

/** The log of an ERC-20 transfer; by default a mint. */
export function fungibleLog(to: string, amount: bigint, from = nobody): ScriptedLog {
  return { topics: [transfer, wordHex(from), wordHex(to)], data: wordHex(amount) }
}

/** The log of an ERC-721 transfer; by default a mint. */
export function uniqueLog(to: string, tokenId: bigint, from = nobody): ScriptedLog {
  return { topics: [transfer, wordHex(from), wordHex(to), wordHex(tokenId)], data: '0x' }
}

/** The log of an ERC-1155 transfer; by default a mint. */
export function unitsLog(to: string, tokenId: bigint, amount: bigint, from = nobody): ScriptedLog {
  const topics = [id('TransferSingle(address,address,address,uint256,uint256)'), wordHex(nobody)]
  return {
    topics: [...topics, wordHex(from), wordHex(to)],
    data: abi.encode(['uint256', 'uint256'], [tokenId, amount])
  }
}

/** The log of an ERC-1155 batch; the lists need not be equally long. */
export function batchLog(to: string, ids: readonly bigint[], amounts: readonly bigint[]): ScriptedLog {
  const topics = [id('TransferBatch(address,address,address,uint256[],uint256[])'), wordHex(nobody)]
  return {
    topics: [...topics, wordHex(nobody), wordHex(to)],
    data: abi.encode(['uint256[]', 'uint256[]'], [ids, amounts])
  }
}

/** An address with a bit set above its 20 bytes. */
export function dirtyAddress(address: string): ScriptedAnswer {
  const content = getBytes(wordHex(address))
  content[11] = 1
  return bytes(content)
}

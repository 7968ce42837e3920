import { describe, expect, it } from 'vitest'
import { formatSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { readMetadataPointer, readTokenExtensions } from './tokenExtensions.ts'

const key = new Uint8Array(32).fill(7)
const nobody = new Uint8Array(32)

function extended(extensions: readonly (readonly [type: number, value: Uint8Array])[], rest = 0): Buffer {
  const parts: Uint8Array[] = [Buffer.alloc(165, 9), Buffer.from([1])]
  for (const [type, value] of extensions) {
    const header = Buffer.alloc(4)
    header.writeUInt16LE(type, 0)
    header.writeUInt16LE(value.length, 2)
    parts.push(header, value)
  }
  return Buffer.concat([...parts, Buffer.alloc(rest)])
}

describe('the extensions of a Token-2022 account', () => {
  it('are found one behind the other, unknown and empty ones too, up to unused room', () => {
    const data = extended(
      [
        [1, Buffer.alloc(108, 200)],
        [9, Buffer.alloc(0)],
        [60_000, Buffer.from([5])],
        [18, Buffer.concat([nobody, key])]
      ],
      30
    )
    expect([...readTokenExtensions(data)].map(([type, { length }]) => [type, length])).toEqual([
      ...[[1, 108] as const, [9, 0] as const, [60_000, 1] as const, [18, 64] as const]
    ])
  })

  it('are none on a plain account, and with less room left than a header needs', () => {
    expect(readTokenExtensions(Buffer.alloc(82)).size).toBe(0)
    expect(readTokenExtensions(extended([], 3)).size).toBe(0)
  })

  it('count once where two have one number: the first', () => {
    const data = extended([
      [6, Buffer.from([1])],
      [6, Buffer.from([2])]
    ])
    expect(readTokenExtensions(data).get(6)).toEqual(Buffer.from([1]))
  })

  it('end where the program has written nothing, whatever lies behind', () => {
    const data = extended([
      [0, Buffer.alloc(0)],
      [18, Buffer.concat([nobody, key])]
    ])
    expect(readTokenExtensions(data).size).toBe(0)
  })

  it('are refused, never read past the end, when one is cut or overlaps the end', () => {
    const whole = extended([[18, Buffer.concat([nobody, key])]])
    for (let length = 166 + 4; length < whole.length; length++) {
      expect(() => readTokenExtensions(whole.subarray(0, length))).toThrow(
        expect.objectContaining({ name: 'AccountRefusal', reason: 'TRUNCATED' })
      )
    }
    whole.writeUInt16LE(65_535, 168)
    expect(() => readTokenExtensions(whole)).toThrow(expect.objectContaining({ reason: 'TRUNCATED' }))
  })
})

describe('a metadata pointer', () => {
  const pointer = (value: Uint8Array) => readMetadataPointer(new Map([[18, value]]))

  it('names an account whoever may move it', () => {
    expect(pointer(Buffer.concat([nobody, key]))).toBe(formatSolanaAddress(key))
    expect(pointer(Buffer.concat([key, key]))).toBe(formatSolanaAddress(key))
  })

  it('may point nowhere, or not exist', () => {
    expect(pointer(Buffer.concat([key, nobody]))).toBeUndefined()
    expect(readMetadataPointer(new Map())).toBeUndefined()
  })

  it('is refused when it is cut', () => {
    expect(() => pointer(Buffer.alloc(63))).toThrow(expect.objectContaining({ reason: 'TRUNCATED' }))
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AccountRefusal } from './borshReader.ts'
import { readMint, readMintMetadataExtensions } from './mint.ts'
import { formatSolanaAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './solanaAddress.ts'

const mintKey = new Uint8Array(32).fill(7)
const mintAddress = formatSolanaAddress(mintKey)
const authority = new Uint8Array(32).fill(3)
const nobody = new Uint8Array(32)

function base({ supply = 5n, decimals = 6, initialized = 1 } = {}): Buffer {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(initialized, 45)
  return data
}

function extended(extensions: readonly (readonly [type: number, value: Uint8Array])[], rest = 0): Buffer {
  const parts: Uint8Array[] = [base(), Buffer.alloc(165 - 82), Buffer.from([1])]
  for (const [type, value] of extensions) {
    const header = Buffer.alloc(4)
    header.writeUInt16LE(type, 0)
    header.writeUInt16LE(value.length, 2)
    parts.push(header, value)
  }
  return Buffer.concat([...parts, Buffer.alloc(rest)])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  return Buffer.concat([length, bytes])
}

const pointer = (to: Uint8Array) => [18, Buffer.concat([authority, to])] as const
const metadata = (by = authority, of = mintKey) =>
  [19, Buffer.concat([by, of, text('Self'), text('SLF'), text('https://s.test'), Buffer.alloc(4)])] as const
const transferFee = [1, Buffer.alloc(108, 200)] as const

const read = (data: Uint8Array, programId = TOKEN_2022_PROGRAM) =>
  readMint({ owner: programId, data }, programId)

describe('a mint', () => {
  it('is read with every digit of its supply', () => {
    const data = base({ supply: 2n ** 64n - 1n, decimals: 255 })
    expect(read(data, TOKEN_PROGRAM)).toEqual({ supply: 18446744073709551615n, decimals: 255 })
  })

  it.each([
    ['a missing last byte', 'TRUNCATED', () => read(base().subarray(0, 81))],
    ['nothing but zeros', 'UNINITIALIZED', () => read(Buffer.alloc(82))],
    ['an unlawful flag', 'MALFORMED', () => read(base({ initialized: 2 }))],
    ['extensions under the old program', 'WRONG_KIND', () => read(extended([transferFee]), TOKEN_PROGRAM)],
    ['no room for the account type', 'WRONG_KIND', () => read(Buffer.concat([base(), Buffer.alloc(20)]))],
    [
      'another owner',
      'WRONG_OWNER',
      () => readMint({ owner: TOKEN_PROGRAM, data: base() }, TOKEN_2022_PROGRAM)
    ]
  ])('is refused: %s', (_what, reason, attempt) => {
    expect(attempt).toThrow(expect.objectContaining({ name: 'AccountRefusal', reason }))
  })
})

describe('the metadata extensions of a mint', () => {
  it('are found behind others and before unused room', () => {
    const data = extended([transferFee, pointer(mintKey), metadata()], 30)
    expect(readMintMetadataExtensions(data, mintAddress)).toEqual({
      pointsTo: mintAddress,
      embedded: {
        kind: 'token2022',
        updateAuthority: formatSolanaAddress(authority),
        mint: mintAddress,
        name: 'Self',
        symbol: 'SLF',
        uri: 'https://s.test',
        sellerFeeBasisPoints: 0,
        creators: [],
        isMutable: true
      }
    })
  })

  it('say that nobody may change them by leaving the authority out', () => {
    const { embedded } = readMintMetadataExtensions(extended([metadata(nobody)]), mintAddress)
    expect(embedded).toMatchObject({ isMutable: false })
    expect(embedded).not.toHaveProperty('updateAuthority')
  })

  it('are absent on a plain mint, and where the pointer points nowhere', () => {
    expect(readMintMetadataExtensions(base(), mintAddress)).toEqual({})
    expect(readMintMetadataExtensions(extended([transferFee]), mintAddress)).toEqual({})
    expect(readMintMetadataExtensions(extended([pointer(nobody)], 3), mintAddress)).toEqual({})
  })

  it('are refused when they name another mint', () => {
    const data = extended([metadata(authority, authority)])
    expect(() => readMintMetadataExtensions(data, mintAddress)).toThrow(
      expect.objectContaining({ reason: 'WRONG_MINT' })
    )
  })

  it('are refused, never read past the end, when cut inside a value', () => {
    const whole = extended([pointer(mintKey), metadata()])
    const valueStarts = 166 + 4 + 64 + 4
    for (let length = valueStarts; length < whole.length; length++) {
      expect(() => readMintMetadataExtensions(whole.subarray(0, length), mintAddress)).toThrow(
        expect.objectContaining({ name: 'AccountRefusal', reason: 'TRUNCATED' })
      )
    }
  })

  it('throw nothing but a refusal whatever the bytes', () => {
    const whole = extended([transferFee, pointer(mintKey), metadata()], 10)
    const flips = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 })
    fc.assert(
      fc.property(flips, fc.nat(whole.length), (changes, length) => {
        const data = Buffer.from(whole.subarray(0, length))
        for (const [at, byte] of changes) if (at < length) data[at] = byte
        try {
          read(data)
          readMintMetadataExtensions(data, mintAddress)
        } catch (error) {
          expect(error).toBeInstanceOf(AccountRefusal)
        }
      }),
      { numRuns: 1000 }
    )
  })
})

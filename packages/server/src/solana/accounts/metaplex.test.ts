import { encodeMetadata, type MetaplexMetadata as WrittenMetadata } from '@chain-data/devnet'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatSolanaAddress, METAPLEX_PROGRAM, TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { TOKEN_STANDARDS } from './assetMetadata.ts'
import { AccountRefusal } from './borshReader.ts'
import { readMetaplexMetadata } from './metaplex.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`metaplex: CHAIN_DATA_TEST_SEED=${seed}\n`)

const mint = formatSolanaAddress(new Uint8Array(32).fill(7))
const authority = formatSolanaAddress(new Uint8Array(32).fill(3))
const read = (data: Uint8Array, owner = METAPLEX_PROGRAM) => readMetaplexMetadata({ owner, data }, mint)

const plain: WrittenMetadata = {
  ...{ updateAuthority: authority, mint, name: 'Name', symbol: 'SYM', uri: 'https://u.test/1' },
  ...{ sellerFeeBasisPoints: 500, primarySaleHappened: true, isMutable: false }
}
const plainRead = { kind: 'metaplex', key: 4, ...plain, creators: [] }

/** Where the fields after `isMutable` start: three padded strings and no creators. */
const YOUNGER_AT = 1 + 32 + 32 + (4 + 32) + (4 + 10) + (4 + 200) + 2 + 1 + 1 + 1

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(formatSolanaAddress)
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const label = (maxBytes: number) =>
  fc
    .string({ unit: 'grapheme', maxLength: maxBytes })
    .map(text => text.replaceAll('\0', '').trim())
    .filter(text => Buffer.byteLength(text) <= maxBytes)
const creator = fc.record({ address, verified: fc.boolean(), share: fc.nat(255) })
const written: fc.Arbitrary<WrittenMetadata> = fc.record(
  {
    updateAuthority: address,
    mint: fc.constant(mint),
    name: label(32),
    symbol: label(10),
    uri: label(200),
    sellerFeeBasisPoints: fc.nat(65535),
    primarySaleHappened: fc.boolean(),
    isMutable: fc.boolean(),
    creators: fc.array(creator, { maxLength: 5 }),
    editionNonce: fc.nat(255),
    tokenStandard: fc.nat(TOKEN_STANDARDS.length - 1),
    collection: fc.record({ verified: fc.boolean(), key: address }),
    uses: fc.record({ useMethod: fc.nat(2), remaining: u64, total: u64 }),
    collectionSize: u64,
    programmableConfig: fc.record({ ruleSet: address }, { requiredKeys: [] })
  },
  {
    requiredKeys: [
      ...(['updateAuthority', 'mint', 'name', 'symbol', 'uri', 'sellerFeeBasisPoints'] as const),
      ...(['primarySaleHappened', 'isMutable'] as const)
    ]
  }
)

/** What is not shown of an asset is not kept. */
function expected(metadata: WrittenMetadata) {
  const { tokenStandard, collection, uses, collectionSize, programmableConfig, ...rest } = metadata
  return {
    ...{ kind: 'metaplex', key: 4, creators: [], ...rest },
    ...(tokenStandard === undefined ? {} : { tokenStandard: TOKEN_STANDARDS[tokenStandard] })
  }
}

describe('a Metaplex metadata account', () => {
  it('is read field by field at both sizes, whichever fields it has', () => {
    fc.assert(
      fc.property(written, fc.constantFrom(679 as const, 607 as const), (metadata, size) => {
        expect(read(encodeMetadata(metadata, size))).toEqual(expected(metadata))
      }),
      { seed, numRuns: 300 }
    )
  })

  it('has no keys for what it leaves unset', () => {
    expect(read(encodeMetadata(plain, 679))).toStrictEqual(plainRead)
  })

  it('has its strings cut at the first NUL and trimmed', () => {
    const data = encodeMetadata({ ...plain, name: ' Na\0me', symbol: '\0X', uri: 'https://u.test \0' }, 607)
    expect(read(data)).toMatchObject({ name: 'Na', symbol: '', uri: 'https://u.test' })
  })

  it('is read when it is so old that it ends after any of the later fields', () => {
    for (const length of [YOUNGER_AT, YOUNGER_AT + 1, YOUNGER_AT + 2, YOUNGER_AT + 4]) {
      expect(read(encodeMetadata(plain, 679).subarray(0, length))).toStrictEqual(plainRead)
    }
    const nonce = encodeMetadata({ ...plain, editionNonce: 254 }, 679).subarray(0, YOUNGER_AT + 2)
    expect(read(nonce)).toStrictEqual({ ...plainRead, editionNonce: 254 })
  })

  it.each([6, 126, 255])('has its standard and what depends on it unset by a standard of %i', byte => {
    const metadata = {
      ...{ ...plain, editionNonce: 254, tokenStandard: byte, collectionSize: 9n },
      collection: { verified: true, key: authority }
    }
    expect(read(encodeMetadata(metadata, 679))).toStrictEqual({ ...plainRead, editionNonce: 254 })
  })

  it('has its later fields unset by an option byte that is neither 0 nor 1', () => {
    const data = encodeMetadata({ ...plain, editionNonce: 254, tokenStandard: 0 }, 679)
    data[YOUNGER_AT + 2] = 126
    expect(read(data)).toStrictEqual({ ...plainRead, editionNonce: 254 })
  })

  const sound = encodeMetadata(plain, 679)
  const withByte = (at: number, byte: number) => Buffer.from(sound).fill(byte, at, at + 1)
  const six = Array.from({ length: 6 }, () => ({ address: authority, verified: false, share: 1 }))
  const elsewhere = encodeMetadata({ ...plain, mint: authority }, 607)
  it.each([
    ['another owner', 'WRONG_OWNER', () => read(sound, TOKEN_PROGRAM)],
    ['no data', 'UNINITIALIZED', () => read(new Uint8Array(0))],
    ['zeros', 'UNINITIALIZED', () => read(Buffer.alloc(679))],
    ['a master edition', 'WRONG_KIND', () => read(withByte(0, 6))],
    ['another mint', 'WRONG_MINT', () => read(elsewhere)],
    ['six creators', 'MALFORMED', () => read(encodeMetadata({ ...plain, creators: six }, 679))],
    ['an unlawful flag', 'MALFORMED', () => read(withByte(YOUNGER_AT - 1, 2))],
    ['a string longer than the account', 'TRUNCATED', () => read(withByte(68, 255))]
  ])('is refused: %s', (_what, reason, attempt) => {
    expect(attempt).toThrow(expect.objectContaining({ name: 'AccountRefusal', reason }))
  })

  it('is refused wherever it is cut before its required fields end', () => {
    for (let length = 1; length < YOUNGER_AT; length++) {
      expect(() => read(sound.subarray(0, length))).toThrow(expect.objectContaining({ reason: 'TRUNCATED' }))
    }
  })

  it('throws nothing but a refusal when mutated and cut, and never takes bytes from beyond its end', () => {
    const change = fc.array(fc.tuple(fc.nat(678), fc.nat(255)), { maxLength: 8 })
    fc.assert(
      fc.property(written, change, fc.nat(679), (metadata, changes, length) => {
        const whole = encodeMetadata(metadata, 679)
        for (const [at, byte] of changes) whole[at] = byte
        const outcomes = [0, 255].map(filler => {
          const surroundings = Buffer.concat([whole.subarray(0, length), Buffer.alloc(700, filler)])
          try {
            return read(surroundings.subarray(0, length))
          } catch (error) {
            expect(error).toBeInstanceOf(AccountRefusal)
            return (error as AccountRefusal).reason
          }
        })
        expect(outcomes[0]).toEqual(outcomes[1])
      }),
      { seed, numRuns: 1000 }
    )
  })
})

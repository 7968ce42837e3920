import {
  getMetadataAccountDataSerializer,
  type MetadataAccountData,
  type MetadataAccountDataArgs
} from '@metaplex-foundation/mpl-token-metadata'
import { publicKey, unwrapOption } from '@metaplex-foundation/umi'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatSolanaAddress, METAPLEX_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { type MetaplexMetadata, TOKEN_STANDARDS } from '../../src/solana/accounts/assetMetadata.ts'
import { AccountRefusal } from '../../src/solana/accounts/borshReader.ts'
import { readMetaplexMetadata } from '../../src/solana/accounts/metaplex.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`crossCheckMetaplex: CHAIN_DATA_TEST_SEED=${seed}\n`)

const official = getMetadataAccountDataSerializer()
const mint = formatSolanaAddress(new Uint8Array(32).fill(7))

const address = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => formatSolanaAddress(bytes))
const key = address.map(text => publicKey(text))
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const text = (maxBytes: number) =>
  fc.string({ unit: 'grapheme', maxLength: maxBytes }).map(value => value.replaceAll('\0', ''))
const written: fc.Arbitrary<MetadataAccountDataArgs> = fc.record({
  ...{ updateAuthority: key, mint: fc.constant(publicKey(mint)) },
  ...{ name: text(32), symbol: text(10), uri: text(100), sellerFeeBasisPoints: fc.nat(65_535) },
  creators: optional(
    fc.array(fc.record({ address: key, verified: fc.boolean(), share: fc.nat(255) }), { maxLength: 5 })
  ),
  ...{ primarySaleHappened: fc.boolean(), isMutable: fc.boolean(), editionNonce: optional(fc.nat(255)) },
  tokenStandard: optional(fc.nat(TOKEN_STANDARDS.length - 1)),
  collection: optional(fc.record({ verified: fc.boolean(), key })),
  uses: optional(fc.record({ useMethod: fc.nat(2), remaining: u64, total: u64 })),
  collectionDetails: optional(
    fc.oneof(
      u64.map(size => ({ __kind: 'V1' as const, size })),
      fc
        .array(fc.nat(255), { minLength: 8, maxLength: 8 })
        .map(padding => ({ __kind: 'V2' as const, padding }))
    )
  ),
  programmableConfig: optional(optional(key).map(ruleSet => ({ __kind: 'V1' as const, ruleSet })))
})

/** Padded with zeros, as an account is. */
function account(metadata: MetadataAccountDataArgs, size: number): Buffer {
  const bytes = official.serialize(metadata)
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, size - bytes.length))])
}

type Outcome = { read: MetaplexMetadata } | { refused: AccountRefusal }

/** Anything else than a refusal is thrown on, and fails the test. */
function own(data: Uint8Array): Outcome {
  try {
    return { read: readMetaplexMetadata({ owner: METAPLEX_PROGRAM, data }, mint) }
  } catch (refused) {
    if (refused instanceof AccountRefusal) return { refused }
    throw refused
  }
}

function theirs(data: Uint8Array): MetadataAccountData | undefined {
  try {
    return official.deserialize(data)[0]
  } catch {
    return undefined
  }
}

const OPTIONS = ['editionNonce', 'tokenStandard'] as const

/** What the official reader found behind `isMutable` of what is shown, in our words. */
function youngerOf(found: MetadataAccountData): Pick<MetaplexMetadata, (typeof OPTIONS)[number]> {
  const [editionNonce, standard] = [unwrapOption(found.editionNonce), unwrapOption(found.tokenStandard)]
  const tokenStandard = standard === null ? undefined : TOKEN_STANDARDS[standard]
  return { ...(editionNonce !== null && { editionNonce }), ...(tokenStandard && { tokenStandard }) }
}

function youngerFields(read: MetaplexMetadata): Partial<MetaplexMetadata> {
  return Object.fromEntries(
    Object.entries(read).filter(([name]) => (OPTIONS as readonly string[]).includes(name))
  )
}

/** Where the fields that every account has end; only for bytes that could be read. */
function requiredEnd(data: Buffer): number {
  let at = 65
  for (let strings = 0; strings < 3; strings++) at += 4 + data.readUInt32LE(at)
  at += 2
  const creators = data[at] === 0 ? 0 : data.readUInt32LE(at + 1)
  return at + (data[at] === 0 ? 1 : 5) + creators * 34 + 2
}

/** The official reader removes NULs wherever they stand; ours ends the text there. Both are trimmed here. */
function expectSameText(ours: string, their: string) {
  if (their.trim() !== ours) expect(their.trim().startsWith(ours), `${their} | ${ours}`).toBe(true)
}

/** Every way in which the two may differ is written down here. */
function compare(data: Buffer): void {
  const outcome = own(data)
  if ('refused' in outcome) {
    const found = theirs(data)
    // Whatever the official reader refuses too needs no reason.
    if (found === undefined) return
    const { reason } = outcome.refused
    // It never looks at the first byte, which says what the account is ...
    if (reason === 'WRONG_KIND' || reason === 'UNINITIALIZED') expect(data[0]).not.toBe(4)
    // ... nor does it know which mint was asked about.
    else if (reason === 'WRONG_MINT') expect(found.mint).not.toBe(mint)
    // It takes any byte for a flag, and more creators than the program ever wrote.
    else {
      expect(reason).toBe('MALFORMED')
      const creators = unwrapOption(found.creators) ?? []
      const end = requiredEnd(data)
      // From the creators on, behind three empty strings and the fee, up to six absent options.
      const again = Buffer.from(official.serialize({ ...found, ...nameless, ...bare })).subarray(79, -6)
      expect(creators.length > 5 || !again.equals(data.subarray(end - again.length, end))).toBe(true)
    }
    return
  }
  const { read } = outcome
  const end = requiredEnd(data)
  const required = theirs(data.subarray(0, end))
  if (required === undefined) throw new Error('only our reader reads what every account has')
  for (const name of ['name', 'symbol', 'uri'] as const) expectSameText(read[name], required[name])
  expect(read).toMatchObject({
    ...{ updateAuthority: required.updateAuthority, mint: required.mint },
    ...{ sellerFeeBasisPoints: required.sellerFeeBasisPoints, isMutable: required.isMutable },
    ...{ primarySaleHappened: required.primarySaleHappened, creators: unwrapOption(required.creators) ?? [] }
  })
  const younger = youngerFields(read)
  const found = theirs(data)
  if (found !== undefined) {
    const again = Buffer.from(official.serialize({ ...found, ...nameless }))
    const tail = again.subarray(requiredEnd(again))
    const isLawful = tail.equals(data.subarray(end, end + tail.length))
    // With lawful flags both read the same. It takes any other byte for a flag, and the end of the account for None
    // of one field after the other; ours is as strict as the program, where some fields stand or fall together.
    if (isLawful) expect(younger).toEqual(youngerOf(found))
    else expect(youngerOf(found)).toMatchObject(younger)
    return
  }
  // It gives up on the whole account. The program, and ours, keep what stands before the unlawful field.
  // All younger fields together are shorter than 150 bytes.
  let cut = Math.min(data.length, end + 150)
  let best: MetadataAccountData | undefined
  while (best === undefined) best = theirs(data.subarray(0, --cut))
  expect(youngerOf(best)).toMatchObject(younger)
}

const bare = {
  ...{ editionNonce: null, tokenStandard: null, collection: null },
  ...{ uses: null, collectionDetails: null, programmableConfig: null }
}
const nameless = { name: '', symbol: '', uri: '' }

describe('our Metaplex reader and the official one', () => {
  it('read the same from everything that the official serialiser writes', () => {
    fc.assert(
      fc.property(written, fc.constantFrom(0, 607, 679), (metadata, size) => {
        const data = account(metadata, size)
        const outcome = own(data)
        expect(outcome).toHaveProperty('read')
        expect(youngerFields((outcome as { read: MetaplexMetadata }).read)).toEqual(
          youngerOf(official.deserialize(data)[0])
        )
        compare(data)
      }),
      { seed, numRuns: 500 }
    )
  })

  it('read the same, or ours refuses, when bits flip and the account is cut or grows', () => {
    const flips = fc.array(fc.tuple(fc.nat(450), fc.nat(7)), { maxLength: 4 })
    const bytes = fc.array(fc.tuple(fc.nat(450), fc.nat(255)), { maxLength: 3 })
    const length = fc.oneof(fc.constant(679), fc.nat(900))
    fc.assert(
      fc.property(written, flips, bytes, length, (metadata, bits, changes, size) => {
        const whole = account(metadata, 900)
        for (const [at, bit] of bits) whole[at] = (whole[at] ?? 0) ^ (1 << bit)
        for (const [at, byte] of changes) whole[at] = byte
        compare(whole.subarray(0, size))
      }),
      { seed, numRuns: 1500 }
    )
  })

  it('read the same, or ours refuses, when one byte behind the strings is any other', () => {
    const metadata: MetadataAccountDataArgs = {
      ...{ updateAuthority: publicKey(mint), mint: publicKey(mint), name: 'N', symbol: 'S', uri: 'U' },
      ...{ sellerFeeBasisPoints: 1, primarySaleHappened: true, isMutable: false, editionNonce: 1 },
      creators: [{ address: publicKey(mint), verified: true, share: 100 }],
      ...{ tokenStandard: 4, collection: { verified: true, key: publicKey(mint) } },
      uses: { useMethod: 1, remaining: 2n, total: 3n },
      collectionDetails: { __kind: 'V1', size: 4n },
      programmableConfig: { __kind: 'V1', ruleSet: publicKey(mint) }
    }
    const whole = account(metadata, 0)
    for (let at = 65; at < whole.length; at++) {
      for (const byte of [0, 1, 2, 5, 6, 7, 126, 255]) {
        const data = Buffer.from(whole)
        data[at] = byte
        compare(data)
      }
    }
    for (let size = 0; size <= whole.length; size++) compare(whole.subarray(0, size))
  })

  describe('differ on purpose', () => {
    const usual: MetadataAccountDataArgs = {
      ...{ updateAuthority: publicKey(mint), mint: publicKey(mint), name: 'Name', symbol: 'S', uri: '' },
      ...{ sellerFeeBasisPoints: 5, creators: null, primarySaleHappened: false, isMutable: true },
      ...{ editionNonce: 254, tokenStandard: 0, collection: null, uses: null },
      ...{ collectionDetails: null, programmableConfig: null }
    }
    const sound = account(usual, 679)
    const end = requiredEnd(sound)
    const withByte = (at: number, byte: number) => Buffer.from(sound).fill(byte, at, at + 1)

    it.each([
      ['zeros, which are a closed account', Buffer.alloc(679), 'UNINITIALIZED'],
      ['a master edition, by its first byte', withByte(0, 6), 'WRONG_KIND'],
      ['flags that are neither 0 nor 1', withByte(end - 1, 2), 'MALFORMED']
    ])('on %s: only the official one reads them', (_what, data, reason) => {
      expect(theirs(data)).toBeDefined()
      expect(own(data)).toMatchObject({ refused: { reason } })
    })

    it('on six creators, which the program never wrote', () => {
      const creators = Array.from({ length: 6 }, () => ({
        address: publicKey(mint),
        verified: false,
        share: 1
      }))
      const data = account({ ...usual, creators }, 679)
      expect(theirs(data)).toBeDefined()
      expect(own(data)).toMatchObject({ refused: { reason: 'MALFORMED' } })
    })

    it('on a standard that does not exist, as a real account has it: only ours reads what stands before', () => {
      const data = withByte(end + 3, 126)
      expect(theirs(data)).toBeUndefined()
      expect(own(data)).toMatchObject({ read: { name: 'Name', editionNonce: 254 } })
      expect((own(data) as { read: MetaplexMetadata }).read).not.toHaveProperty('tokenStandard')
    })

    it('on text behind a NUL, which the program takes for padding', () => {
      const data = account({ ...usual, name: 'Na\0me ' }, 679)
      expect(theirs(data)?.name).toBe('Name ')
      expect(own(data)).toMatchObject({ read: { name: 'Na' } })
    })
  })
})

import {
  AccountLayout,
  ExtensionType,
  getExtensionData,
  getInterestBearingMintConfigState,
  getMetadataPointerState,
  getScaledUiAmountConfig,
  getTypeLen,
  InterestBearingMintConfigStateLayout,
  isAccountExtension,
  isMintExtension,
  type Mint,
  MintLayout,
  MultisigLayout,
  ScaledUiAmountConfigLayout,
  unpackAccount,
  unpackMint
} from '@solana/spl-token'
import { pack, unpack } from '@solana/spl-token-metadata'
import { PublicKey } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { AccountRefusal } from '../../src/solana/accounts/borshReader.ts'
import { readMint, readTokenAccount } from '../../src/solana/accounts/tokenAccount.ts'
import {
  readMetadataPointer,
  readTokenExtensions,
  readTokenMetadata
} from '../../src/solana/accounts/tokenExtensions.ts'
import { readUiAmount } from '../../src/solana/accounts/uiAmount.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`crossCheckTokens: CHAIN_DATA_TEST_SEED=${seed}\n`)

/** Every extension that the official library has a number for, and those it leaves out, by the program's numbers. */
const numbers = Object.values(ExtensionType).filter(
  type => typeof type === 'number' && type !== ExtensionType.Uninitialized
) as ExtensionType[]
const mintTypes = numbers.filter(isMintExtension)
const accountTypes = numbers.filter(isAccountExtension)
const leftOut = {
  confidentialTransferFeeConfig: 16,
  confidentialTransferFeeAmount: 17,
  confidentialMintBurn: 24
}
const ofTheFuture = 999

const mintKey = new PublicKey(new Uint8Array(32).fill(7))
const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => new PublicKey(bytes))
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const flag = fc.constantFrom(0 as const, 1 as const)
const seconds = fc.integer({ min: 0, max: 2 ** 40 })
const rate = fc.integer({ min: -32_768, max: 32_767 })
const multiplier = fc.double({ min: 5e-324, noNaN: true, noDefaultInfinity: true })
const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map(value => value.replaceAll('\0', ''))

function encode<T>(layout: { span: number; encode(value: T, bytes: Buffer): number }, value: T): Buffer {
  const bytes = Buffer.alloc(layout.span)
  layout.encode(value, bytes)
  return bytes
}

const mintBase = fc
  .record({
    ...{ mintAuthorityOption: flag, mintAuthority: key, supply: u64, decimals: fc.nat(255) },
    ...{ isInitialized: fc.constant(true), freezeAuthorityOption: flag, freezeAuthority: key }
  })
  .map(mint => encode(MintLayout, mint))
const accountBase = fc
  .record({
    ...{ mint: key, owner: key, amount: u64, delegateOption: flag, delegate: key, delegatedAmount: u64 },
    ...{ state: fc.constantFrom(1, 2), isNativeOption: flag, isNative: u64 },
    ...{ closeAuthorityOption: flag, closeAuthority: key }
  })
  .map(account => encode(AccountLayout, account))

const metadata = fc.record({
  ...{ updateAuthority: fc.option(key, { nil: undefined }), mint: fc.constant(mintKey) },
  ...{ name: text, symbol: text, uri: text },
  additionalMetadata: fc.array(fc.tuple(text, text), { maxLength: 3 })
})

/** A value as the official library writes it; random bytes of the right length where nobody reads it. */
function valueFor(type: number): fc.Arbitrary<Uint8Array> {
  switch (type) {
    case ExtensionType.TokenMetadata:
      return metadata.map(({ updateAuthority, ...rest }) =>
        Uint8Array.from(pack(updateAuthority === undefined ? rest : { updateAuthority, ...rest }))
      )
    case ExtensionType.MetadataPointer:
      return fc
        .tuple(key, fc.oneof(key, fc.constant(PublicKey.default)))
        .map(([authority, to]) => Buffer.concat([authority.toBytes(), to.toBytes()]))
    case ExtensionType.ScaledUiAmountConfig:
      return fc.tuple(key, multiplier, seconds, multiplier).map(([authority, now, from, then]) =>
        encode(ScaledUiAmountConfigLayout, {
          ...{ authority, multiplier: now, newMultiplier: then },
          newMultiplierEffectiveTimestamp: BigInt(from)
        })
      )
    case ExtensionType.InterestBearingConfig:
      return fc.tuple(key, seconds, rate, seconds, rate).map(([rateAuthority, start, before, update, now]) =>
        // Its types say bigint, its code wants numbers.
        encode(InterestBearingMintConfigStateLayout, {
          ...{ rateAuthority, initializationTimestamp: start, preUpdateAverageRate: before },
          ...{ lastUpdateTimestamp: update, currentRate: now }
        } as never)
      )
    default: {
      const size = numbers.includes(type) ? getTypeLen(type) : 33
      return fc.uint8Array({ minLength: size, maxLength: size })
    }
  }
}

const extensionsOf = (types: readonly number[]) =>
  fc
    .shuffledSubarray([...types])
    .chain(chosen => fc.tuple(...chosen.map(type => valueFor(type).map(value => ({ type, value })))))

type Written = readonly { readonly type: number; readonly value: Uint8Array }[]

function withExtensions(base: Uint8Array, accountType: 1 | 2, written: Written): Buffer {
  const parts = written.map(({ type, value }) => {
    const header = Buffer.alloc(4)
    header.writeUInt16LE(type, 0)
    header.writeUInt16LE(value.length, 2)
    return Buffer.concat([header, value])
  })
  const whole = [base, Buffer.alloc(165 - base.length), Buffer.from([accountType]), ...parts]
  const data = Buffer.concat(whole)
  // As the program does it, so that no account is as long as a multisig.
  return data.length === 355 ? Buffer.concat([data, Buffer.alloc(2)]) : data
}

/** `undefined` for what is refused; anything else than a refusal is thrown on, and fails the test. */
function own<T>(read: () => T): { readonly read: T } | { readonly reason: string } {
  try {
    return { read: read() }
  } catch (error) {
    if (error instanceof AccountRefusal) return { reason: error.reason }
    throw error
  }
}

function theirs<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

const infoOf = (data: Buffer, owner: PublicKey) => ({ data, owner, executable: false, lamports: 1 })
const programs = [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] as const

/** Every way in which the two may differ is written down here. */
function compareMint(data: Buffer, programId: string): void {
  const owner = new PublicKey(programId)
  const ours = own(() => readMint({ owner: programId, data }, programId))
  const their = theirs(() => unpackMint(mintKey, infoOf(data, owner), owner))
  if ('read' in ours) {
    expect(their).toMatchObject({ ...ours.read, isInitialized: true })
    if (their !== undefined) compareExtensions(data, their)
  } else if (their !== undefined) {
    // The official reader leaves it to its caller whether a mint is initialised, takes any byte but 0 for yes ...
    if (ours.reason === 'UNINITIALIZED') expect(their.isInitialized).toBe(false)
    else if (ours.reason === 'MALFORMED') expect(data[45]).toBeGreaterThan(1)
    // ... and reads extensions under the old program too, which knows none.
    else expect([ours.reason, programId, data.length > 82]).toEqual(['WRONG_KIND', TOKEN_PROGRAM, true])
  }
}

function compareExtensions(data: Buffer, their: Mint): void {
  const all = own(() => readTokenExtensions(data))
  // The official reader does not look at what it was not asked for: an extension behind the end is ours to refuse.
  if (!('read' in all)) return
  const extensions = all.read
  for (const type of [...mintTypes, ...Object.values(leftOut), ofTheFuture]) {
    const found = getExtensionData(type, their.tlvData)
    const value = extensions.get(type)
    if (value !== undefined) expect(found).toEqual(Buffer.from(value))
    // Ours stops where the program has written nothing, as the program does; the official reader looks on behind it.
    else if (found !== null) expect(endsInNothing(data)).toBe(true)
  }
  if (endsInNothing(data)) return

  const pointer = own(() => readMetadataPointer(extensions))
  if ('read' in pointer) {
    const state = getMetadataPointerState(their)
    expect(pointer.read).toBe(state?.metadataAddress?.toBase58())
  } else expect(pointer.reason).toBe('TRUNCATED')

  const shown = own(() => readUiAmount(extensions))
  const scaled = theirs(() => getScaledUiAmountConfig(their) ?? undefined)
  const interest = theirs(() => getInterestBearingMintConfigState(their) ?? undefined)
  if ('read' in shown) {
    const { scaledUiAmount, interestBearing } = shown.read
    expect(scaledUiAmount).toEqual(
      scaled && {
        ...{ multiplier: scaled.multiplier, newMultiplier: scaled.newMultiplier },
        newMultiplierEffectiveTimestamp: Number(BigInt.asIntN(64, scaled.newMultiplierEffectiveTimestamp))
      }
    )
    const { rateAuthority: _unread, ...rates } = interest ?? {}
    expect(interestBearing ?? {}).toEqual(rates)
  }

  const value = extensions.get(ExtensionType.TokenMetadata)
  if (value !== undefined) compareMetadata(value)
}

function compareMetadata(value: Uint8Array): void {
  const ours = own(() => readTokenMetadata(value, mintKey.toBase58()))
  const their = theirs(() => unpack(value))
  if (!('read' in ours)) {
    if (their === undefined) return
    // It does not know which mint was asked about ...
    if (ours.reason === 'WRONG_MINT') expect(their.mint.equals(mintKey)).toBe(false)
    // ... and takes the end of the bytes for no additional fields, which the program always counts. It removes NULs from texts.
    else
      expect([ours.reason, pack(their).length + countNuls(value) > value.length]).toEqual(['TRUNCATED', true])
    return
  }
  expect(their?.mint.toBase58()).toBe(ours.read.mint)
  expect(their?.updateAuthority?.toBase58()).toBe(ours.read.updateAuthority)
  for (const name of ['name', 'symbol', 'uri'] as const) {
    // The official reader removes NULs wherever they stand; ours ends the text there. Both are trimmed here.
    expect(their?.[name].trim().startsWith(ours.read[name]), name).toBe(true)
    const raw = Buffer.from(value).includes(Buffer.from(`${their?.[name]}`))
    if (raw && their?.[name].trim() !== ours.read[name]) expect(value.includes(0)).toBe(true)
  }
}

/** Counts the NULs in name, symbol and uri. */
function countNuls(value: Uint8Array): number {
  const view = new DataView(value.buffer, value.byteOffset, value.length)
  let count = 0
  let at = 64
  for (let text = 0; text < 3; text++) {
    const end = at + 4 + view.getUint32(at, true)
    count += value.subarray(at + 4, end).filter(byte => byte === 0).length
    at = end
  }
  return count
}

function endsInNothing(data: Buffer): boolean {
  let at = 166
  while (at + 4 <= data.length) {
    if (data.readUInt16LE(at) === 0) return true
    at += 4 + data.readUInt16LE(at + 2)
  }
  return false
}

function compareAccount(data: Buffer, programId: string): void {
  const owner = new PublicKey(programId)
  const ours = own(() => readTokenAccount({ owner: programId, data }, programId))
  const their = theirs(() => unpackAccount(mintKey, infoOf(data, owner), owner))
  if ('read' in ours) {
    expect(their).toMatchObject({
      ...{ amount: ours.read.amount, isInitialized: true, isFrozen: ours.read.frozen },
      ...{ mint: new PublicKey(ours.read.mint), owner: new PublicKey(ours.read.owner) }
    })
  } else if (their !== undefined) {
    // The official reader leaves it to its caller whether an account is initialised, takes any state but 0 for yes ...
    if (ours.reason === 'UNINITIALIZED') expect(their.isInitialized).toBe(false)
    else if (ours.reason === 'MALFORMED') expect(data[108]).toBeGreaterThan(2)
    // ... and reads extensions under the old program too, which knows none.
    else expect([ours.reason, programId, data.length > 165]).toEqual(['WRONG_KIND', TOKEN_PROGRAM, true])
  }
}

/** Flips bits and sets bytes, often in the headers of the extensions, then cuts or extends. */
const damage = fc.record({
  bits: fc.array(fc.tuple(fc.oneof(fc.nat(240), fc.nat(1200)), fc.nat(7)), { maxLength: 4 }),
  bytes: fc.array(fc.tuple(fc.oneof(fc.integer({ min: 160, max: 180 }), fc.nat(1200)), fc.nat(255)), {
    maxLength: 3
  }),
  size: fc.oneof(fc.constant(undefined), fc.nat(1300), fc.constantFrom(81, 82, 83, 164, 165, 166, 355))
})

function mutate(
  whole: Buffer,
  { bits, bytes, size }: typeof damage extends fc.Arbitrary<infer T> ? T : never
) {
  const length = size ?? whole.length
  const data = Buffer.concat([whole, Buffer.alloc(Math.max(0, length - whole.length))]).subarray(0, length)
  for (const [at, bit] of bits) if (at < length) data[at] = (data[at] ?? 0) ^ (1 << bit)
  for (const [at, byte] of bytes) if (at < length) data[at] = byte
  return data
}

describe('our token readers and the official ones', () => {
  it('know every extension there is, for mints or for accounts', () => {
    expect([...mintTypes, ...accountTypes].sort((a, b) => a - b)).toEqual(numbers.toSorted((a, b) => a - b))
    const all = [...numbers, ...Object.values(leftOut)].sort((a, b) => a - b)
    expect(all).toEqual(Array.from({ length: 28 }, (_, at) => at + 1))
  })

  it.each(mintTypes.map(type => [ExtensionType[type] ?? '', type] as const))(
    'read a mint with %s alike',
    (_name, type) => {
      fc.assert(
        fc.property(mintBase, valueFor(type), (base, value) => {
          const data = withExtensions(base, 1, [{ type, value }])
          const owner = TOKEN_2022_PROGRAM
          expect(own(() => readMint({ owner, data }, owner))).toHaveProperty('read')
          expect([...readTokenExtensions(data).keys()]).toEqual([type])
          compareMint(data, owner)
        }),
        { seed, numRuns: 30 }
      )
    }
  )

  it.each([
    ...accountTypes.map(type => [ExtensionType[type] ?? '', type] as const),
    ['ConfidentialTransferFeeAmount', leftOut.confidentialTransferFeeAmount] as const
  ])('read a token account with %s alike, balance and all', (_name, type) => {
    fc.assert(
      fc.property(accountBase, valueFor(type), (base, value) => {
        const data = withExtensions(base, 2, [{ type, value }])
        const owner = TOKEN_2022_PROGRAM
        expect(own(() => readTokenAccount({ owner, data }, owner))).toMatchObject({
          read: { amount: base.readBigUInt64LE(64) }
        })
        compareAccount(data, owner)
      }),
      { seed, numRuns: 30 }
    )
  })

  it('read mints with many extensions in any order alike, or ours refuses, also when they are damaged', () => {
    const types = [...mintTypes, ...Object.values(leftOut), ofTheFuture]
    fc.assert(
      fc.property(
        mintBase,
        extensionsOf(types),
        damage,
        fc.constantFrom(...programs),
        (base, list, harm, program) => {
          compareMint(base, program)
          const data = withExtensions(base, 1, list)
          compareMint(data, program)
          compareMint(mutate(data, harm), program)
          compareMint(mutate(base, harm), program)
        }
      ),
      { seed, numRuns: 2000 }
    )
  })

  it('read token accounts with many extensions alike, or ours refuses, also when they are damaged', () => {
    fc.assert(
      fc.property(
        accountBase,
        extensionsOf(accountTypes),
        damage,
        fc.constantFrom(...programs),
        (base, list, harm, program) => {
          compareAccount(base, program)
          const data = withExtensions(base, 2, list)
          compareAccount(data, program)
          compareAccount(mutate(data, harm), program)
          compareAccount(mutate(base, harm), program)
        }
      ),
      { seed, numRuns: 2000 }
    )
  })

  it('read metadata alike, or ours refuses, wherever it is cut and whatever byte it has', () => {
    const sound = Uint8Array.from(
      pack({
        ...{ updateAuthority: mintKey, mint: mintKey, name: 'Name', symbol: 'SYM', uri: 'https://u.test' },
        additionalMetadata: [['colour', 'blue']]
      })
    )
    for (let size = 0; size <= sound.length; size++) compareMetadata(sound.subarray(0, size))
    for (let at = 0; at < sound.length; at++) {
      for (const byte of [0, 1, 127, 128, 255]) compareMetadata(Uint8Array.from(sound).fill(byte, at, at + 1))
    }
  })

  it('refuse a multisig, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 355, maxLength: 355 }), bytes => {
        expect(MultisigLayout.span).toBe(355)
        const data = Buffer.from(bytes)
        for (const owner of programs) {
          expect(own(() => readMint({ owner, data }, owner))).toEqual({ reason: 'WRONG_KIND' })
          expect(own(() => readTokenAccount({ owner, data }, owner))).toEqual({ reason: 'WRONG_KIND' })
        }
      }),
      { seed, numRuns: 50 }
    )
  })
})

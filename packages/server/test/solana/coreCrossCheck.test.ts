import {
  type CorePlugin,
  encodeCoreAsset,
  encodeCoreCollection,
  type CoreAsset as Written
} from '@chain-data/devnet'
import {
  deserializeAssetV1,
  deserializeCollectionV1,
  getExternalRegistryRecordSerializer,
  getPluginHeaderV1AccountDataSerializer,
  getPluginSerializer,
  getRegistryRecordSerializer,
  type Plugin,
  type PluginArgs,
  PluginType
} from '@metaplex-foundation/mpl-core'
import { getAssetV1AccountDataSerializer } from '@metaplex-foundation/mpl-core/dist/src/generated/types/assetV1AccountData.js'
import { getCollectionV1AccountDataSerializer } from '@metaplex-foundation/mpl-core/dist/src/generated/types/collectionV1AccountData.js'
import { lamports, none, type PublicKey, publicKey, type RpcAccount, some } from '@metaplex-foundation/umi'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatSolanaAddress } from '../../src/nodes/solana/solanaAddress.ts'
import { AccountRefusal } from '../../src/solana/accounts/borshReader.ts'
import { MPL_CORE_PROGRAM, readCoreAsset, readCoreCollection } from '../../src/solana/nftSources/coreAsset.ts'
import type { CorePlugins } from '../../src/solana/nftSources/corePlugins.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
const runs = (numRuns: number) => ({ seed, numRuns, endOnFailure: true })

const key = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map(bytes => publicKey(formatSolanaAddress(bytes)))
/** Without what the two readers treat differently on purpose: NUL, a byte order mark, space at the ends. */
const text = (maxLength: number) =>
  fc.string({ unit: 'grapheme', maxLength }).map(value => value.replace(/[\0\ufeff]/g, '').trim())
const authority = fc.oneof(
  fc.constantFrom({ __kind: 'None' }, { __kind: 'Owner' }, { __kind: 'UpdateAuthority' }),
  key.map(address => ({ __kind: 'Address', address }))
) as fc.Arbitrary<{ __kind: 'Owner' } | { __kind: 'Address'; address: PublicKey }>

const creator = fc.record({ address: key, percentage: fc.nat(255) })
const ruleSet = fc.oneof(
  fc.constant({ __kind: 'None' as const }),
  fc.record({
    __kind: fc.constantFrom('ProgramAllowList' as const, 'ProgramDenyList' as const),
    fields: fc.tuple(fc.array(key, { maxLength: 3 }))
  })
)
const frozen = fc.boolean().map(value => ({ frozen: value }))
const signatures = fc.array(fc.record({ address: key, verified: fc.boolean() }), { maxLength: 4 })

/** What each of the program's plugin types may hold. */
const contents: Record<Plugin['__kind'], fc.Arbitrary<object>> = {
  Royalties: fc.record({
    basisPoints: fc.nat(65_535),
    creators: fc.array(creator, { maxLength: 5 }),
    ruleSet
  }),
  FreezeDelegate: frozen,
  BurnDelegate: fc.constant({}),
  TransferDelegate: fc.constant({}),
  UpdateDelegate: fc.record({ additionalDelegates: fc.array(key, { maxLength: 3 }) }),
  PermanentFreezeDelegate: frozen,
  Attributes: fc.record({
    attributeList: fc.array(fc.record({ key: text(8), value: text(8) }), { maxLength: 4 })
  }),
  PermanentTransferDelegate: fc.constant({}),
  PermanentBurnDelegate: fc.constant({}),
  Edition: fc.record({ number: fc.nat() }),
  MasterEdition: fc.record({
    maxSupply: fc.option(fc.nat()),
    name: fc.option(text(8)),
    uri: fc.option(text(8))
  }),
  AddBlocker: fc.constant({}),
  ImmutableMetadata: fc.constant({}),
  VerifiedCreators: fc.record({ signatures }),
  Autograph: fc.record({
    signatures: fc.array(fc.record({ address: key, message: text(8) }), { maxLength: 3 })
  }),
  BubblegumV2: fc.constant({}),
  FreezeExecute: frozen,
  PermanentFreezeExecute: frozen,
  Groups: fc.record({ groups: fc.array(key, { maxLength: 3 }) })
}
const kinds = Object.keys(contents) as Plugin['__kind'][]
const plugins = fc
  .subarray(kinds)
  .chain(chosen => fc.shuffledSubarray(chosen, { minLength: chosen.length }))
  .chain(chosen =>
    fc.tuple(
      ...chosen.map(kind =>
        fc.record({ plugin: contents[kind].map(fields => ({ __kind: kind, fields: [fields] })), authority })
      )
    )
  ) as fc.Arbitrary<Held[]>

type Held = { readonly plugin: PluginArgs; readonly authority: { __kind: 'Owner' } }

/** A record of another program's plugin, of a type that no reader knows: both step over it. */
const adapter = fc
  .record({
    ...{ authority, offset: fc.nat(), dataOffset: optional(fc.nat()), dataLen: optional(fc.nat()) },
    lifecycleChecks: optional(fc.array(fc.tuple(fc.nat(4), fc.record({ flags: fc.nat() })), { maxLength: 3 }))
  })
  .map(record => {
    const bytes = getExternalRegistryRecordSerializer().serialize({ pluginType: 2, ...record })
    return Uint8Array.of(200, ...bytes.subarray(1))
  })

/** Header, plugins and registry behind the fixed part, as the program lays them out. */
function bytesOf(fixed: Uint8Array, list: readonly Held[] | undefined, adapters: readonly Uint8Array[] = []) {
  if (list === undefined) return fixed
  const bodies = list.map(({ plugin }) => getPluginSerializer().serialize(plugin))
  let offset = fixed.length + 9
  const records = list.map(({ plugin, authority: holder }, at) => {
    const record = { pluginType: PluginType[plugin.__kind], authority: holder, offset }
    offset += bodies[at]?.length ?? 0
    return getRegistryRecordSerializer().serialize(record)
  })
  const header = getPluginHeaderV1AccountDataSerializer().serialize({ key: 3, pluginRegistryOffset: offset })
  const registry = [Uint8Array.of(4), u32(records.length), ...records, u32(adapters.length), ...adapters]
  return Buffer.concat([fixed, header, ...bodies, ...registry])
}

function optional<T>(value: fc.Arbitrary<T>) {
  return fc.oneof(
    fc.constant(none<T>()),
    value.map(held => some(held))
  )
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const updateAuthority = fc.oneof(
  fc.constant({ __kind: 'None' as const }),
  fc.record({
    __kind: fc.constantFrom('Address' as const, 'Collection' as const),
    fields: fc.tuple(key)
  })
)
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const asset = fc
  .record({
    fixed: fc.record({
      ...{ key: fc.constant(1), owner: key, updateAuthority, name: text(40), uri: text(80) },
      seq: optional(u64)
    }),
    ...{ list: fc.option(plugins, { nil: undefined }), adapters: fc.array(adapter, { maxLength: 2 }) }
  })
  .map(({ fixed, list, adapters }) =>
    bytesOf(getAssetV1AccountDataSerializer().serialize(fixed), list, adapters)
  )
const collection = fc
  .record({
    fixed: fc.record({
      ...{ key: fc.constant(5), updateAuthority: key, name: text(40), uri: text(80) },
      ...{ numMinted: fc.nat(), currentSize: fc.nat() }
    }),
    ...{ list: fc.option(plugins, { nil: undefined }), adapters: fc.array(adapter, { maxLength: 2 }) }
  })
  .map(({ fixed, list, adapters }) =>
    bytesOf(getCollectionV1AccountDataSerializer().serialize(fixed), list, adapters)
  )

const raw = (data: Uint8Array) => ({ owner: MPL_CORE_PROGRAM, data })
const rpcAccount = (data: Uint8Array): RpcAccount => ({
  publicKey: publicKey(MPL_CORE_PROGRAM),
  owner: publicKey(MPL_CORE_PROGRAM),
  ...{ data, executable: false, lamports: lamports(1) }
})

type OfficialPlugins = Pick<
  ReturnType<typeof deserializeAssetV1>,
  'royalties' | 'verifiedCreators' | 'immutableMetadata'
>

function pluginsOf({ royalties, verifiedCreators, immutableMetadata }: OfficialPlugins): CorePlugins {
  return {
    ...(royalties && {
      royalties: { basisPoints: royalties.basisPoints, creators: royalties.creators.map(one => ({ ...one })) }
    }),
    ...(verifiedCreators && {
      verifiedCreators: new Set(
        verifiedCreators.signatures.filter(({ verified }) => verified).map(({ address }) => String(address))
      )
    }),
    ...(immutableMetadata && { immutableMetadata: true as const })
  }
}

/** What the official reader makes of an asset, in the terms of ours. */
function officialAsset(data: Uint8Array) {
  const read = deserializeAssetV1(rpcAccount(data))
  const { type, address } = read.updateAuthority
  return {
    owner: String(read.owner),
    updateAuthority: type === 'None' ? { kind: 'none' } : { kind: type.toLowerCase(), address },
    ...endAtNul(read, data),
    plugins: pluginsOf(read)
  }
}

/** The official reader takes NUL bytes out of a text; here, as in all Metaplex accounts, the text ends there. */
function endAtNul({ name, uri }: { name: string; uri: string }, data: Uint8Array) {
  const bytes = Buffer.from(data)
  const nameAt = 1 + 32 + 1 + (bytes[33] === 0 ? 0 : 32)
  const uriAt = nameAt + 4 + bytes.readUInt32LE(nameAt)
  const ended = (read: string, at: number) => {
    const text = bytes.subarray(at + 4, at + 4 + bytes.readUInt32LE(at))
    return text.includes(0) ? text.subarray(0, text.indexOf(0)).toString() : read
  }
  return { name: ended(name, nameAt), uri: ended(uri, uriAt) }
}

function officialCollection(data: Uint8Array) {
  const read = deserializeCollectionV1(rpcAccount(data))
  return { updateAuthority: String(read.updateAuthority), plugins: pluginsOf(read) }
}

/** `undefined` when the reader refuses; whatever else it throws is a failure of the test. */
function oursOr<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof AccountRefusal) return undefined
    throw error
  }
}

function officialOr<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Texts are trimmed here and lose a byte order mark there: neither is compared. */
const comparable = (read: object): object =>
  'name' in read && 'uri' in read ? { ...read, name: loose(read.name), uri: loose(read.uri) } : read
const loose = (value: unknown) => String(value).replace(/[\s\ufeff]/g, '')

type Mutation =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'append'; readonly bytes: Uint8Array }
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat(7) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 40 })
    })
  }
)

function mutate(data: Uint8Array, change: Mutation): Uint8Array {
  if (change.kind === 'cut') return data.slice(0, change.at % data.length)
  if (change.kind === 'append') return Buffer.concat([data, change.bytes])
  const changed = Uint8Array.from(data)
  changed[change.at % data.length]! ^= 1 << change.bit
  return changed
}

const readers = [
  ['asset', asset, officialAsset, (data: Uint8Array) => readCoreAsset(raw(data))],
  ['collection', collection, officialCollection, (data: Uint8Array) => readCoreCollection(raw(data))]
] as const

describe.each(readers)(
  `a Core %s (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`,
  (_kind, arbitrary, official, ours) => {
    it('reads as the official reader reads it, with every type of plugin', () => {
      fc.assert(
        fc.property(arbitrary, data => {
          expect(ours(data)).toEqual(official(data))
        }),
        runs(400)
      )
    })

    it('with one thing changed reads as the official reader reads it, or is refused', () => {
      const counts = { same: 0, refused: 0, unshown: 0 }
      fc.assert(
        fc.property(arbitrary, mutation, (data, change) => {
          const changed = mutate(data, change)
          const read = oursOr(() => ours(changed) as object)
          const expected = officialOr(() => official(changed) as object)
          if (read === undefined) counts.refused++
          else if (expected === undefined) {
            // Only a part that is not shown can break for the official reader alone: the rest stays as it was.
            counts.unshown++
            expect(comparable(read)).toEqual(comparable(ours(data)))
          } else {
            counts.same++
            expect(comparable(read)).toEqual(comparable(expected))
          }
        }),
        runs(1_500)
      )
      // Otherwise the comparison would say little.
      expect(Math.min(counts.same, counts.refused)).toBeGreaterThan(100)
      expect(counts.unshown).toBeGreaterThan(0)
    })

    it('of random bytes is refused, never a crash', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 400 }), fc.constantFrom(1, 5), (bytes, first) => {
          const data = Uint8Array.from([first, ...bytes])
          const read = oursOr(() => ours(data))
          if (read !== undefined) expect(comparable(read)).toEqual(comparable(official(data)))
        }),
        runs(2_000)
      )
    })
  }
)

describe('where this reader is stricter than the official one', () => {
  const owner = formatSolanaAddress(new Uint8Array(32).fill(7))
  const written: Written = {
    ...{ owner, updateAuthority: { kind: 'none' }, name: 'N', uri: 'U' },
    plugins: [{ type: 'freezeDelegate', frozen: true }, { type: 'immutableMetadata' }]
  }
  const fixedSize = encodeCoreAsset({ ...written, plugins: [] }).length - 9 - 1 - 8
  const data = encodeCoreAsset(written)
  const registryAt = Number(data.readBigUInt64LE(fixedSize + 1))
  const withByte = (at: number, value: number) => {
    const changed = Buffer.from(data)
    changed[at] = value
    return changed
  }

  it.each([
    ['the plugin header has the key of something else', withByte(fixedSize, 5)],
    ['a plugin is of another type than its record says', withByte(registryAt + 1 + 4, 5)],
    ['an option is neither 0 nor 1', withByte(fixedSize - 1, 2)]
  ])('an account is refused when %s', (_why, changed) => {
    expect(readCoreAsset(raw(data)).plugins).toEqual({ immutableMetadata: true })
    expect(() => readCoreAsset(raw(changed))).toThrow(AccountRefusal)
  })
})

describe('the accounts that tests put on a node', () => {
  const owner = formatSolanaAddress(new Uint8Array(32).fill(7))
  const other = formatSolanaAddress(new Uint8Array(32).fill(9))
  const list: CorePlugin[] = [
    {
      type: 'royalties',
      basisPoints: 500,
      creators: [{ address: owner, percentage: 100 }],
      ruleSet: { kind: 'deny', programs: [other] }
    },
    { type: 'freezeDelegate', frozen: true },
    { type: 'permanentFreezeDelegate', frozen: false },
    { type: 'attributes', attributes: [{ key: 'a', value: 'b' }] },
    { type: 'immutableMetadata' },
    { type: 'verifiedCreators', signatures: [{ address: owner, verified: true }] }
  ]
  const official = (
    [
      [
        'Royalties',
        {
          basisPoints: 500,
          creators: [{ address: publicKey(owner), percentage: 100 }],
          ruleSet: { __kind: 'ProgramDenyList', fields: [[publicKey(other)]] }
        }
      ],
      ['FreezeDelegate', { frozen: true }],
      ['PermanentFreezeDelegate', { frozen: false }],
      ['Attributes', { attributeList: [{ key: 'a', value: 'b' }] }],
      ['ImmutableMetadata', {}],
      ['VerifiedCreators', { signatures: [{ address: publicKey(owner), verified: true }] }]
    ] as const
  ).map(([kind, fields]) => ({
    plugin: { __kind: kind, fields: [fields] } as unknown as PluginArgs,
    authority: { __kind: 'UpdateAuthority' } as unknown as { __kind: 'Owner' }
  }))

  it('are byte for byte what the official serialisers write', () => {
    const names = { name: 'Name', uri: 'https://u.test/1' }
    const fixed = getAssetV1AccountDataSerializer().serialize({
      ...{ key: 1, owner: publicKey(owner), ...names, seq: some(7n) },
      updateAuthority: { __kind: 'Collection', fields: [publicKey(other)] }
    })
    const written = {
      owner,
      updateAuthority: { kind: 'collection' as const, address: other },
      ...names,
      seq: 7n
    }
    expect(encodeCoreAsset({ ...written, plugins: list })).toEqual(Buffer.from(bytesOf(fixed, official)))
    expect(encodeCoreAsset(written)).toEqual(Buffer.from(fixed))
    const sizes = { numMinted: 3, currentSize: 2 }
    const fixedCollection = getCollectionV1AccountDataSerializer().serialize({
      ...{ key: 5, updateAuthority: publicKey(other), ...names, ...sizes }
    })
    expect(encodeCoreCollection({ updateAuthority: other, ...names, ...sizes, plugins: list })).toEqual(
      Buffer.from(bytesOf(fixedCollection, official))
    )
  })
})

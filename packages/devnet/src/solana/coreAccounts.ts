import { PublicKey } from '@solana/web3.js'
import { type ByteWriter, createByteWriter } from './ByteWriter.ts'

/** Metaplex Core. The program itself is not needed to read what it once wrote. */
export const coreProgram = new PublicKey('CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d')

/** Contents of an AssetV1 account. */
export interface CoreAsset {
  owner: string
  updateAuthority: { kind: 'none' } | { kind: 'address' | 'collection'; address: string }
  name: string
  uri: string
  /** Absent: None. */
  seq?: bigint
  /** Absent: an account without plugin header, as the program writes one that never had any. */
  plugins?: CorePlugin[]
}

/** Contents of a CollectionV1 account. */
export interface CoreCollection {
  updateAuthority: string
  name: string
  uri: string
  numMinted: number
  currentSize: number
  plugins?: CorePlugin[]
}

/** A plugin whose authority is the update authority. */
export type CorePlugin =
  | {
      type: 'royalties'
      basisPoints: number
      creators: { address: string; percentage: number }[]
      /** Absent: None. */
      ruleSet?: { kind: 'allow' | 'deny'; programs: string[] }
    }
  | { type: 'freezeDelegate'; frozen: boolean }
  | { type: 'permanentFreezeDelegate'; frozen: boolean }
  | { type: 'attributes'; attributes: { key: string; value: string }[] }
  | { type: 'immutableMetadata' }
  | { type: 'verifiedCreators'; signatures: { address: string; verified: boolean }[] }

/** First byte of each kind of account, and of each part behind one. */
const keys = { asset: 1, pluginHeader: 3, pluginRegistry: 4, collection: 5 } as const

const pluginTypes: Record<CorePlugin['type'], number> = {
  royalties: 0,
  freezeDelegate: 1,
  permanentFreezeDelegate: 5,
  attributes: 6,
  immutableMetadata: 12,
  verifiedCreators: 13
}
const authorities = { none: 0, address: 1, collection: 2 } as const
/** The update authority holds a plugin. */
const heldByUpdateAuthority = 2

/** Bytes of an AssetV1 account as the program lays them out. */
export function encodeCoreAsset({ owner, updateAuthority, name, uri, seq, plugins }: CoreAsset): Buffer {
  const writer = createByteWriter().u8(keys.asset).key(owner).u8(authorities[updateAuthority.kind])
  if (updateAuthority.kind !== 'none') writer.key(updateAuthority.address)
  writer
    .string(name)
    .string(uri)
    .option(seq, value => writer.u64(value))
  return withPlugins(writer.finish(), plugins)
}

/** Bytes of a CollectionV1 account as the program lays them out. */
export function encodeCoreCollection(collection: CoreCollection): Buffer {
  const { updateAuthority, name, uri, numMinted, currentSize, plugins } = collection
  const writer = createByteWriter().u8(keys.collection).key(updateAuthority).string(name).string(uri)
  return withPlugins(writer.bytes(u32(numMinted)).bytes(u32(currentSize)).finish(), plugins)
}

/** A header, the plugins one after the other, then the registry that says where each one is. */
function withPlugins(account: Buffer, plugins: CorePlugin[] | undefined): Buffer {
  if (plugins === undefined) return account
  const bodies = plugins.map(encodePlugin)
  const headerSize = 9
  let offset = account.length + headerSize
  const registry = createByteWriter().u8(keys.pluginRegistry)
  registry.list(plugins, plugin => {
    registry.u8(pluginTypes[plugin.type]).u8(heldByUpdateAuthority).u64(BigInt(offset))
    offset += bodies[plugins.indexOf(plugin)]?.length ?? 0
  })
  // Plugins that other programs define: none.
  registry.bytes(u32(0))
  const header = createByteWriter().u8(keys.pluginHeader).u64(BigInt(offset)).finish()
  return Buffer.concat([account, header, ...bodies, registry.finish()])
}

function encodePlugin(plugin: CorePlugin): Buffer {
  const writer = createByteWriter().u8(pluginTypes[plugin.type])
  switch (plugin.type) {
    case 'royalties':
      writer
        .u16(plugin.basisPoints)
        .list(plugin.creators, ({ address, percentage }) => writer.key(address).u8(percentage))
      return writeRuleSet(writer, plugin.ruleSet).finish()
    case 'freezeDelegate':
    case 'permanentFreezeDelegate':
      return writer.bool(plugin.frozen).finish()
    case 'attributes':
      return writer.list(plugin.attributes, ({ key, value }) => writer.string(key).string(value)).finish()
    case 'immutableMetadata':
      return writer.finish()
    case 'verifiedCreators':
      return writer
        .list(plugin.signatures, ({ address, verified }) => writer.key(address).bool(verified))
        .finish()
  }
}

function writeRuleSet(
  writer: ByteWriter,
  ruleSet: { kind: 'allow' | 'deny'; programs: string[] } | undefined
): ByteWriter {
  if (ruleSet === undefined) return writer.u8(0)
  return writer.u8(ruleSet.kind === 'allow' ? 1 : 2).list(ruleSet.programs, program => writer.key(program))
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

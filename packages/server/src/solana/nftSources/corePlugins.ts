import { AccountRefusal, BorshReader } from '../accounts/borshReader.ts'

/** Royalties as an asset or a collection of Metaplex Core keeps them. */
interface CoreRoyalties {
  /** Hundredths of a percent, u16. */
  readonly basisPoints: number
  /** `percentage` of the royalties, u8. */
  readonly creators: readonly { readonly address: string; readonly percentage: number }[]
}

/** The plugins that say something about an asset as people see it; the others are stepped over. */
export interface CorePlugins {
  readonly royalties?: CoreRoyalties
  /** Creators that have signed. Absent without the plugin, which is not the same as none. */
  readonly verifiedCreators?: ReadonlySet<string>
  /** Name and URI can never change again. */
  readonly immutableMetadata?: true
}

const KEY_PLUGIN_HEADER = 3
const KEY_PLUGIN_REGISTRY = 4
const PLUGIN_ROYALTIES = 0
const PLUGIN_IMMUTABLE_METADATA = 12
const PLUGIN_VERIFIED_CREATORS = 13
const AUTHORITY_ADDRESS = 3
/** A plugin type is one byte, and an account has each type once. */
const MAX_PLUGINS = 256

/**
 * Reads the plugins after the fixed part of a Core account: a header that says where the registry is, and a registry
 * that says where each plugin is. Types younger than this reader are stepped over, as the program's own clients do.
 *
 * @param startAt - first byte after the fixed part; at the end of `data` there are no plugins.
 * @throws {AccountRefusal} a part that is shown cannot be read, or an offset lies outside the account.
 * @see Metaplex Core `PluginHeaderV1`, `PluginRegistryV1`
 */
export function readCorePlugins(data: Uint8Array, startAt: number): CorePlugins {
  if (startAt === data.length) return {}
  const header = new BorshReader(data, startAt)
  requireByte(header.u8(), KEY_PLUGIN_HEADER, 'plugin header')
  const registry = readerAt(data, header.u64(), startAt)
  requireByte(registry.u8(), KEY_PLUGIN_REGISTRY, 'plugin registry')
  const count = registry.u32()
  if (count > MAX_PLUGINS) throw new AccountRefusal('MALFORMED', `${count} plugins`)
  let plugins: CorePlugins = {}
  for (let at = 0; at < count; at++) {
    const type = registry.u8()
    skipAuthority(registry)
    const offset = registry.u64()
    const plugin = readerAt(data, offset, startAt)
    requireByte(plugin.u8(), type, 'plugin')
    plugins = { ...plugins, ...readPlugin(type, plugin) }
  }
  skipAdapters(registry)
  return plugins
}

function readPlugin(type: number, reader: BorshReader): CorePlugins {
  switch (type) {
    case PLUGIN_ROYALTIES:
      return { royalties: readRoyalties(reader) }
    case PLUGIN_IMMUTABLE_METADATA:
      return { immutableMetadata: true }
    case PLUGIN_VERIFIED_CREATORS:
      return { verifiedCreators: readVerifiedCreators(reader) }
    default:
      return {}
  }
}

/** @param offset - from the start of the account; a plugin inside the fixed part would be a forged one. */
function readerAt(data: Uint8Array, offset: bigint, startAt: number): BorshReader {
  if (offset < BigInt(startAt) || offset >= BigInt(data.length)) {
    throw new AccountRefusal('MALFORMED', `offset ${offset} in ${data.length} bytes`)
  }
  return new BorshReader(data, Number(offset))
}

function requireByte(found: number, expected: number, what: string): void {
  if (found !== expected) throw new AccountRefusal('MALFORMED', `${what} has key ${found}, not ${expected}`)
}

/** None, Owner, UpdateAuthority, or Address with a key. */
function skipAuthority(reader: BorshReader): void {
  const kind = reader.u8()
  if (kind > AUTHORITY_ADDRESS) throw new AccountRefusal('MALFORMED', `plugin authority ${kind}`)
  if (kind === AUTHORITY_ADDRESS) reader.bytes(32)
}

/**
 * Records of the plugins that other programs define, which say nothing that is shown. They must be whole all the
 * same: where they are not, the count of the records before them may be wrong too.
 */
function skipAdapters(registry: BorshReader): void {
  for (let count = registry.u32(); count > 0; count--) {
    registry.u8()
    skipAuthority(registry)
    // Moments at which the adapter is asked, five bytes each; where it begins; where its data begins and how long it is.
    registry.option(() => registry.bytes(5 * registry.u32()))
    registry.u64()
    registry.option(() => registry.u64())
    registry.option(() => registry.u64())
  }
}

function readRoyalties(reader: BorshReader): CoreRoyalties {
  const basisPoints = reader.u16()
  const creators = readList(reader, () => ({ address: reader.address(), percentage: reader.u8() }))
  // Programs that may or may not move the asset: not shown, but they must be whole.
  const ruleSet = reader.u8()
  if (ruleSet > 2) throw new AccountRefusal('MALFORMED', `rule set ${ruleSet}`)
  if (ruleSet > 0) reader.bytes(32 * reader.u32())
  return { basisPoints, creators }
}

function readVerifiedCreators(reader: BorshReader): ReadonlySet<string> {
  const signatures = readList(reader, () => ({ address: reader.address(), verified: reader.bool() }))
  return new Set(signatures.filter(({ verified }) => verified).map(({ address }) => address))
}

/** One item at a time: a count that lies ends at the end of the bytes, not in memory. */
function readList<T>(reader: BorshReader, read: () => T): readonly T[] {
  const items: T[] = []
  for (let count = reader.u32(); count > 0; count--) items.push(read())
  return items
}

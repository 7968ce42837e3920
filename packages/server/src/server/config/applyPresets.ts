import { chainPresets, devChainIds } from '../../model/chainPresets.ts'
import { nameless } from '../../model/labelChain.ts'
import type { RootVerification } from '../../model/rootParts.ts'
import { chooseRoots } from './chooseRoots.ts'
import type { ParsedConfig } from './schema.ts'

type ParsedChain = ParsedConfig['chains']['evm'][number]

/** An EVM chain of the configuration with the preset of its id merged in. */
export interface EvmChain extends ParsedChain {
  /** `Chain <chainId>` where neither the configuration nor a preset names the chain. */
  readonly name: string
  readonly dev: boolean
}

/** A complete, checked configuration. It is valid input too, and then stays as it is. */
export type Config = Omit<ParsedConfig, 'chains'> & {
  readonly chains: Omit<ParsedConfig['chains'], 'evm'> & { evm: EvmChain[] }
}

/** Merges the presets of chains into a configuration: its own values win, and waivers are united. */
export function applyPresets(config: ParsedConfig): Config {
  return { ...config, chains: { ...config.chains, evm: config.chains.evm.map(applyPreset) } }
}

function applyPreset(chain: ParsedChain): EvmChain {
  const { chainId } = chain
  const preset = chain.preset ? chainPresets.get(chainId) : undefined
  const known = (preset?.exceptions ?? []).map(exception => ({ fromBlock: 0, toBlock: null, ...exception }))
  return {
    ...chain,
    name: chain.name ?? preset?.name ?? nameless(chainId),
    nativeCurrency: chain.nativeCurrency ?? preset?.nativeCurrency ?? null,
    explorerUrl: chain.explorerUrl ?? preset?.explorerUrl ?? null,
    dev: chain.dev ?? devChainIds.has(chainId),
    waivers: [...chain.waivers, ...known.filter(exception => !chain.waivers.some(isSame(exception)))]
  }
}

type Waiver = ParsedChain['waivers'][number]

function isSame(one: Waiver): (other: Waiver) => boolean {
  return other =>
    other.check === one.check &&
    other.fromBlock === one.fromBlock &&
    other.toBlock === one.toBlock &&
    other.source === one.source
}

/** Describes a chain for the log: its name, its preset, what is verified, and each check that its blocks may break. */
export function describeChain(chain: EvmChain) {
  const { chainId, name, preset, waivers } = chain
  const roots = chooseRoots(chain)
  const known = preset ? chainPresets.get(chainId) : undefined
  // With "roots", a chain of which no part is known counts as encoded like Ethereum.
  const isAssumed = roots !== undefined && known?.roots === undefined
  const applied = chainPresets.has(chainId) ? 'applied' : 'none is known'
  return {
    chainId,
    name,
    preset: preset ? applied : 'off',
    ...(roots === undefined ? {} : { verified: describeRoots(roots) }),
    ...(!isAssumed && known?.unknownEncoding ? { unverified: known.unknownEncoding } : {}),
    ...(waivers.length === 0 ? {} : { waivers: waivers.map(describeWaiver).join('; ') })
  }
}

function describeRoots({ parts, older, blocks }: RootVerification): string {
  const old =
    older === undefined || blocks === 'head' ? '' : `; ${older.parts.join(', ')} up to block ${older.toBlock}`
  return `${parts.join(', ')} of ${blocks === 'all' ? 'all' : 'new'} blocks${old}`
}

function describeWaiver({ check, reason, fromBlock, toBlock, source }: Waiver): string {
  const heights = toBlock === null ? `from block ${fromBlock}` : `blocks ${fromBlock} to ${toBlock}`
  // A log line cuts what it takes for a URL to its host.
  const origin = source === null ? 'by configuration' : source.replace(/^https?:\/\//, '')
  return `${check} (${heights}): ${reason} [${origin}]`
}

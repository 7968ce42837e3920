import type { Address } from '@chain-data/index'
import { type KnownException, knownExceptions } from './knownExceptions.ts'
import { type OlderParts, type RootPart, rootParts } from './rootParts.ts'
import { describeUnknownEncoding } from './unknownEncodings.ts'

/** The currency that a chain's fees are paid in. */
interface NativeCurrency {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

/** The public facts about a chain, so that its id is enough to configure it. */
export interface ChainPreset {
  readonly chainId: number
  readonly name: string
  readonly nativeCurrency: NativeCurrency
  /** The registry of ENS; absent for chains without one. */
  readonly ensRegistry?: Address
  /** Absent where no public explorer is known. */
  readonly explorerUrl?: string
  /** Checks that blocks of the chain are known to break; empty for a chain that keeps them all. */
  readonly exceptions: readonly KnownException[]
  /** Parts of its blocks that are known to be recomputable; absent: the encoding of the chain is not known. */
  readonly roots?: readonly RootPart[]
  /** Parts that are recomputable in its old blocks; absent: the same as in new ones. */
  readonly olderRoots?: OlderParts
  /** What of its blocks cannot be recomputed; wherever `roots` lacks a part, and where older blocks differ. */
  readonly unknownEncoding?: string
}

/** Chain ids of development nodes: hardhat's and anvil's, and the older one of ganache and geth. */
export const devChainIds: ReadonlySet<number> = new Set([1_337, 31_337])

/**
 * Parts that development nodes (anvil, hardhat, ganache) encode as Ethereum does. A transaction of an impersonated account
 * has no signature, and a hash that does not follow from its fields.
 */
export const devRoots: readonly RootPart[] = ['header', 'receipts', 'withdrawals']

/** Chains of which recorded blocks show which parts are recomputable. */
const knownRoots: ReadonlyMap<number, readonly RootPart[]> = new Map([
  // Ethereum and its public test networks.
  ...withRoots(rootParts, [1, 560_048, 11_155_111]),
  // The OP stack as OP Mainnet and Base run it, and their test networks.
  ...withRoots(rootParts, [10, 8453, 84_532, 11_155_420]),
  // Arbitrum Nitro.
  ...withRoots(rootParts, [42_161, 42_170, 421_614]),
  // HyperEVM.
  ...withRoots(rootParts, [999]),
  // Polygon: its state syncs are in the roots by now, and are encoded in a way that no recorded block shows.
  ...withRoots(['header', 'withdrawals', 'senders'], [137]),
  // Tempo and its test network.
  ...withRoots(rootParts, [4217, 42_431]),
  // Stable and its test network: the hash of a block is the consensus' own.
  ...withRoots(['transactions', 'receipts', 'withdrawals', 'senders'], [988, 2201]),
  // Frontier: the hash of a block covers milliseconds that no answer shows.
  ...withRoots(['transactions', 'receipts', 'senders'], [945]),
  // Cronos: what Ethermint writes into headers follows from nothing that a node answers.
  ...withRoots(['senders'], [25])
])

/** Chains of whose old blocks more is recomputable. Polygon: blocks before the Madhugiri fork. */
const knownOlderRoots: ReadonlyMap<number, OlderParts> = new Map([
  [137, { toBlock: 80_084_799, parts: rootParts }]
])

function withRoots(parts: readonly RootPart[], chainIds: readonly number[]) {
  return chainIds.map(chainId => [chainId, parts] as const)
}

/** The registry of ENS has one address on each chain that has it. @see https://docs.ens.domains/learn/deployments/ */
const ensRegistry: Address = '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e'
const chainsWithEns: ReadonlySet<number> = new Set([1, 11_155_111])

const ether: NativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const dollar: NativeCurrency = { name: 'USD', symbol: 'USD', decimals: 6 }

type Row = readonly [
  chainId: number,
  name: string,
  currency: NativeCurrency | string | readonly [name: string, symbol: string],
  explorerUrl?: string
]

/** The rows are sorted by chain id. A currency has 18 decimals unless it says otherwise, and its symbol is its name. */
const rows: readonly Row[] = [
  [1, 'Ethereum', ether, 'https://etherscan.io'],
  [10, 'OP Mainnet', ether, 'https://optimistic.etherscan.io'],
  [14, 'Flare', ['Flare', 'FLR'], 'https://flare-explorer.flare.network'],
  [25, 'Cronos', ['Cronos', 'CRO'], 'https://explorer.cronos.org'],
  [30, 'Rootstock', ['Rootstock Bitcoin', 'RBTC'], 'https://explorer.rsk.co'],
  [40, 'Telos', ['Telos', 'TLOS'], 'https://www.teloscan.io'],
  [50, 'XDC Network', 'XDC', 'https://xdcscan.com'],
  [56, 'BNB Smart Chain', 'BNB', 'https://bscscan.com'],
  [61, 'Ethereum Classic', 'ETC', 'https://blockscout.com/etc/mainnet'],
  [97, 'BNB Smart Chain Testnet', ['BNB', 'tBNB'], 'https://testnet.bscscan.com'],
  [100, 'Gnosis', ['xDAI', 'XDAI'], 'https://gnosisscan.io'],
  [109, 'Shibarium', 'BONE', 'https://shibariumscan.io'],
  [122, 'Fuse', 'FUSE', 'https://explorer.fuse.io'],
  [130, 'Unichain', ether, 'https://uniscan.xyz'],
  [137, 'Polygon', 'POL', 'https://polygonscan.com'],
  [143, 'Monad', ['Monad', 'MON'], 'https://monadvision.com'],
  [146, 'Sonic', ['Sonic', 'S'], 'https://sonicscan.org'],
  [169, 'Manta Pacific', ether, 'https://pacific-explorer.manta.network'],
  [204, 'opBNB', 'BNB', 'https://opbnb.bscscan.com'],
  [250, 'Fantom', ['Fantom', 'FTM'], 'https://ftmscan.com'],
  [252, 'Fraxtal', 'FRAX', 'https://fraxscan.com'],
  [295, 'Hedera', 'HBAR', 'https://hashscan.io/mainnet'],
  [296, 'Hedera Testnet', 'HBAR', 'https://hashscan.io/testnet'],
  [324, 'ZKsync Era', ether, 'https://explorer.zksync.io'],
  [338, 'Cronos Testnet', ['CRO', 'tCRO'], 'https://explorer.cronos.org/testnet'],
  [369, 'PulseChain', ['Pulse', 'PLS'], 'https://ipfs.scan.pulsechain.com'],
  [480, 'World Chain', ether, 'https://worldscan.org'],
  [747, 'Flow EVM', 'FLOW', 'https://evm.flowscan.io'],
  [945, 'Bittensor Testnet', ['testTAO', 'TAO'], 'https://evm-testscan.dev.opentensor.ai'],
  [988, 'Stable', 'USDT0', 'https://stablescan.xyz'],
  [998, 'HyperEVM Testnet', 'HYPE'],
  [999, 'HyperEVM', 'HYPE', 'https://hyperevmscan.io'],
  [1030, 'Conflux eSpace', ['Conflux', 'CFX'], 'https://evm.confluxscan.org'],
  [1088, 'Metis', 'METIS', 'https://explorer.metis.io'],
  [1116, 'Core', 'CORE', 'https://scan.coredao.org'],
  [1135, 'Lisk', ether, 'https://blockscout.lisk.com'],
  [1284, 'Moonbeam', ['Moonbeam', 'GLMR'], 'https://moonscan.io'],
  [1285, 'Moonriver', ['Moonriver', 'MOVR'], 'https://moonriver.moonscan.io'],
  [1329, 'Sei Network', 'SEI', 'https://seiscan.io'],
  [1514, 'Story', ['IP Token', 'IP'], 'https://storyscan.io'],
  [1868, 'Soneium', ether, 'https://soneium.blockscout.com'],
  [2020, 'Ronin', 'RON', 'https://app.roninchain.com'],
  [2201, 'Stable Testnet', 'USDT0', 'https://testnet.stablescan.xyz'],
  [2222, 'Kava EVM', 'KAVA', 'https://kavascan.com'],
  [2741, 'Abstract', ether, 'https://abscan.org'],
  [4217, 'Tempo', dollar, 'https://explore.tempo.xyz'],
  [4326, 'MegaETH', ether, 'https://mega.etherscan.io'],
  [5000, 'Mantle', 'MNT', 'https://mantlescan.xyz'],
  [7000, 'ZetaChain', 'ZETA', 'https://zetascan.com'],
  [8217, 'Kaia', 'KAIA', 'https://kaiascan.io'],
  [8453, 'Base', ether, 'https://basescan.org'],
  [9745, 'Plasma', ['Plasma', 'XPL'], 'https://plasmascan.to'],
  [10_143, 'Monad Testnet', ['Testnet MON Token', 'MON'], 'https://testnet.monadexplorer.com'],
  [13_371, 'Immutable zkEVM', ['Immutable Coin', 'IMX'], 'https://explorer.immutable.com'],
  [23_294, 'Oasis Sapphire', ['Sapphire Rose', 'ROSE'], 'https://explorer.oasis.io/mainnet/sapphire'],
  [33_139, 'ApeChain', ['ApeCoin', 'APE'], 'https://apescan.io'],
  [34_443, 'Mode', ether, 'https://modescan.io'],
  [42_161, 'Arbitrum One', ether, 'https://arbiscan.io'],
  [42_170, 'Arbitrum Nova', ether, 'https://nova.arbiscan.io'],
  [42_220, 'Celo', 'CELO', 'https://celoscan.io'],
  [42_429, 'Tempo Andantino', dollar],
  [42_431, 'Tempo Moderato', dollar, 'https://explore.testnet.tempo.xyz'],
  [42_793, 'Etherlink', ['Tez', 'XTZ'], 'https://explorer.etherlink.com'],
  [43_111, 'Hemi', ether, 'https://explorer.hemi.xyz'],
  [43_113, 'Avalanche Fuji', ['Avalanche Fuji', 'AVAX'], 'https://testnet.snowtrace.io'],
  [43_114, 'Avalanche', ['Avalanche', 'AVAX'], 'https://snowtrace.io'],
  [57_073, 'Ink', ether, 'https://explorer.inkonchain.com'],
  [59_144, 'Linea', ether, 'https://lineascan.build'],
  [60_808, 'BOB', ether, 'https://explorer.gobob.xyz'],
  [80_002, 'Polygon Amoy', 'POL', 'https://amoy.polygonscan.com'],
  [80_069, 'Berachain Bepolia', ['BERA Token', 'BERA'], 'https://bepolia.beratrail.io'],
  [80_094, 'Berachain', ['BERA Token', 'BERA'], 'https://berascan.com'],
  [81_457, 'Blast', ether, 'https://blastscan.io'],
  [84_532, 'Base Sepolia', ether, 'https://sepolia.basescan.org'],
  [88_888, 'Chiliz Chain', 'CHZ', 'https://scan.chiliz.com'],
  [167_000, 'Taiko', ether, 'https://taikoscan.io'],
  [421_614, 'Arbitrum Sepolia', ether, 'https://sepolia.arbiscan.io'],
  [534_352, 'Scroll', ether, 'https://scrollscan.com'],
  [560_048, 'Hoodi', ether, 'https://hoodi.etherscan.io'],
  [747_474, 'Katana', ether, 'https://katanascan.com'],
  [7_777_777, 'Zora', ether, 'https://explorer.zora.energy'],
  [11_155_111, 'Sepolia', ether, 'https://sepolia.etherscan.io'],
  [11_155_420, 'OP Sepolia', ether, 'https://optimism-sepolia.blockscout.com'],
  [1_313_161_554, 'Aurora', ether, 'https://aurorascan.dev'],
  [1_666_600_000, 'Harmony One', ['Harmony', 'ONE'], 'https://explorer.harmony.one']
]

function toPreset([chainId, name, currency, explorerUrl]: Row): ChainPreset {
  const roots = knownRoots.get(chainId)
  const olderRoots = knownOlderRoots.get(chainId)
  const unknownEncoding = describeUnknownEncoding(chainId, roots !== rootParts)
  return {
    chainId,
    name,
    nativeCurrency: toCurrency(currency),
    ...(chainsWithEns.has(chainId) && { ensRegistry }),
    ...(explorerUrl === undefined ? {} : { explorerUrl }),
    exceptions: knownExceptions.get(chainId) ?? [],
    ...(roots && { roots }),
    ...(olderRoots && { olderRoots }),
    ...(unknownEncoding === undefined ? {} : { unknownEncoding })
  }
}

function toCurrency(currency: Row[2]): NativeCurrency {
  if (typeof currency === 'string') return { name: currency, symbol: currency, decimals: 18 }
  if ('decimals' in currency) return currency
  const [name, symbol] = currency
  return { name, symbol, decimals: 18 }
}

/** The presets of public chains, by chain id. */
export const chainPresets: ReadonlyMap<number, ChainPreset> = new Map(
  rows.map(row => [row[0], toPreset(row)])
)

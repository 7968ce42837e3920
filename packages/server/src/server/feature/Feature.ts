import type { Damage, StoreReader, SyncStatus } from '@chain-data/index'
import type { NativeCurrency } from '@chain-data/protocol'
import type { ListedLabel } from '../../evm/holdings/shapeHoldings.ts'
import type { KnownToken } from '../../evm/holdings/spam/createSpamJudge.ts'
import type { ReadDocuments } from '../../model/documents.ts'
import type { Prices } from '../../model/prices.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import type { SolanaNodes } from '../../nodes/solana/nodes.ts'
import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import type { Clock } from '../../platform/clock.ts'
import type { ServerFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import type { NodeChecks } from '../check/nodeReport.ts'
import type { Config } from '../config/config.ts'
import type { OpenPages } from '../guards/pages.ts'
import type { CallGuard } from '../limits/login.ts'
import type { Method } from '../methods/Method.ts'
import type { Handlers } from '../methods/MethodContext.ts'
import type { OlderHistory } from '../methods/OlderHistory.ts'
import type { MetricsPage } from '../metrics/metricsPage.ts'
import type { IndexView } from './readIndex.ts'
import type { Stores } from './stores.ts'

/**
 * One addition to the server, in a folder of its own. The features of a server are given to `createServer` in a list, and
 * are fixed from then on; each may use what those before it provide.
 */
export interface Feature {
  /** Unique in a server, such as `live-streams`. */
  readonly name: string
  /** The configuration keys that only it reads, as paths with dots; a server without it refuses them. Absent: none. */
  readonly settings?: readonly string[]
  /** What `chain-data check` and `init` find out for it about the nodes of EVM chains. Absent: nothing. */
  readonly nodeChecks?: NodeChecks
  /** Opens it over the chains of a server, before the first call and before the first block. */
  open(server: OpenServer): FeatureParts | Promise<FeatureParts>
}

/** What a feature adds to its server. */
export interface FeatureParts {
  /** Its methods of the document. */
  readonly handlers?: Partial<Handlers>
  /** Methods that the document does not have, as `defineMethod` makes them. */
  readonly methods?: readonly Method[]
  /** What the core's methods and the features after it can use. */
  readonly services?: Partial<Services>
  /** Checks of calls whose credentials are right, before their bodies are read; first to last. */
  readonly guards?: readonly CallGuard[]
  /** Adds its figures to the page for Prometheus. */
  addMetrics?(page: MetricsPage): void
  /** Pages for operators. */
  readonly openPages?: OpenPages
  /** Releases what it holds, once no call is under way. */
  close?(): Promise<void>
}

/** What features provide for the core's methods, each at most once in a server. Without one, the answers say what is lacking. */
export interface Services {
  /** History older than the index of an EVM chain. */
  readonly older: (chainId: number) => OlderHistory | undefined
  /** The documents that metadata URIs lead to. */
  readonly readDocuments: ReadDocuments
  /** What lists of tokens say of contracts. */
  readonly tokenLists: {
    /** What the lists call a contract; `undefined` where none has it. */
    find(chainId: number, address: string): ListedLabel | undefined
    /** The same array until a list changes. */
    tokensOf(chainId: number): readonly KnownToken[]
  }
  /** What tokens are worth. */
  readonly prices: Prices
}

/** A server, as a feature finds it when it is opened. */
export interface OpenServer {
  /** The whole configuration, with its defaults. */
  readonly config: Config
  /** Where the server keeps what it stores. */
  readonly stores: Stores
  /** By chain id. */
  readonly evm: ReadonlyMap<number, OpenEvmChain>
  /** By chain id. */
  readonly solana: ReadonlyMap<number, OpenCluster>
  /** What the features before it provide. */
  readonly services: Partial<Services>
  /** How the server fares, for pages of operators. */
  readonly figures: ServerFigures
  /** Reports damage of a chain's index to its writer, which repairs it. */
  reportDamage(chainId: number, damage: Damage): void
  /** Writes an EVM address with its checksum. */
  readonly formatAddress: FormatAddress
  /** The time. */
  readonly clock: Clock
  /** Takes lines of the log; secrets do not belong there. */
  readonly logger: Logger
  /** The process has no other purpose than this server. */
  readonly ownsProcess: boolean
}

/** One EVM chain of a server. */
export interface OpenEvmChain {
  /** As its nodes have it. */
  readonly chainId: number
  /** For people; `undefined` where neither the configuration nor the server knows one. */
  readonly name: string | undefined
  /** What the chain is paid with; `undefined` where it is not known. */
  readonly nativeCurrency: NativeCurrency | undefined
  /** Its entry in the configuration, with its defaults and preset. */
  readonly settings: Config['chains']['evm'][number]
  /** Reads the chain's index in the forms in which it is stored: for features that know them. */
  readonly reader: StoreReader
  /** Runs a query over one consistent view of the chain's index. */
  readIndex<T>(query: (index: IndexView) => Promise<T>): Promise<T>
  /** Its nodes, for queries. */
  readonly rpc: EvmUpstreams
  /** What its indexer last reported; problems are worded for callers. Not before the server has started. */
  status(): SyncStatus
}

/** One Solana cluster of a server. */
export interface OpenCluster {
  /** 101 to 103 for the public clusters, or the one that is configured. */
  readonly chainId: number
  /** Its entry in the configuration, with its defaults. */
  readonly settings: Config['chains']['solana'][number]
  /** Its nodes. */
  readonly nodes: SolanaNodes
  /** Calls to its nodes, for queries. */
  readonly rpc: SolanaRpc
  /** Makes a read that has the cluster's node checked as soon as it fails because of it. */
  checkAfterFailure<Query, Answer>(read: (query: Query) => Promise<Answer>): (query: Query) => Promise<Answer>
}

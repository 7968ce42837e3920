import type { DeepSource } from '../../model/deepHistory.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import type { Config } from '../config/config.ts'
import type { Findings } from './findings.ts'
import type { SampledBlock } from './sampleBlocks.ts'

type EvmChain = Config['chains']['evm'][number]

/** What one node was seen to be and to offer. Absent members were not found out, or do not belong to its kind of chain. */
export interface NodeReport {
  readonly findings: Findings
  readonly genesisHash?: string
  /** Newest block or slot. */
  readonly height?: number
  /** Blocks read of it, by ascending height. */
  readonly sample?: readonly SampledBlock[]
  /** The oldest block that it still has with its receipts; 0: it has all. */
  readonly oldestBlock?: number
  /** It is a developer's node, which may copy a public chain or have the chain id of a public cluster. */
  readonly isDevNode?: boolean
  /** Its source of history older than an index, which `deepHistory` needs. */
  readonly olderHistory?: DeepSource
  /** An account that was active lately. */
  readonly address?: string
  /** Milliseconds that one block with its transactions takes to read. */
  readonly blockMs?: number
}

/** What a feature needs of the nodes of an EVM chain, for `chain-data check` and `init`. */
export interface NodeChecks {
  /**
   * Checks one node, alongside all that the server itself needs.
   * @param timeoutMs - bound on what it asks.
   * @returns its findings, and what it found out.
   */
  checkNode(chain: EvmChain, rpc: EvmUpstreams, timeoutMs: number): Promise<NodeReport>
  /** Judges all nodes of a chain together, once each was checked. @param place - key of the chain in the configuration. */
  judgeNodes(chain: EvmChain, place: string, reports: readonly NodeReport[]): Findings
}

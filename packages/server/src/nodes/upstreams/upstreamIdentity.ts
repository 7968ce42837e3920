import type { Hash } from '../../model/evm.ts'
import type { Clock } from '../../platform/clock.ts'
import { ConfigError, NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { NodeCall, NodeOutcome } from '../evm/nodeCall.ts'
import { readCount, readHash, readObject, readQuantity } from '../evm/rawFields.ts'
import { UpstreamError } from './httpUpstream.ts'

/** What every upstream of a chain has to show. */
export interface ExpectedIdentity {
  readonly chainId: number
  /** Of the index; absent while nothing is indexed, or while that is not known yet. */
  genesisHash?: Hash
}

/** What an upstream has shown. */
export interface ShownIdentity {
  /** Exact also beyond 2^53. */
  readonly chainId: bigint
  /** Absent when the node has no block 0, or not any more. */
  readonly genesisHash?: Hash
}

/** Whether one upstream serves the right chain, as far as it has shown. */
export interface UpstreamIdentity {
  /** The last answer, while it still counts; a {@link ConfigError} when it was of another chain. */
  known(): ShownIdentity | ConfigError | undefined
  /** Whether a wrong one has been left alone for long enough to be looked at again. */
  isDue(patience: 'rare' | 'soon'): boolean
  /** Its connection was lost: behind the same address there may be another node now. */
  forget(): void
  /** What the answers to {@link identityCalls} show. @throws {UpstreamError} no identity. */
  read(outcomes: readonly NodeOutcome[]): ShownIdentity
  /** Whether this is the right chain, as far as is known. */
  isExpected(found: ShownIdentity): boolean
  /** Takes it for what the upstream serves. @throws {UpstreamError} it lacks the block that tells. */
  judge(found: ShownIdentity): void
  /** Holds what it has shown against what is expected by now. */
  judgeAgain(): void
}

/** One batch per connection. */
export const identityCalls: readonly NodeCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_getBlockByNumber', params: ['0x0', false] }
]

/** A wrong upstream stays wrong until somebody changes something; sooner only while there is no right one. */
const recheckMs = { rare: 60_000, soon: 1_000 }

export function createUpstreamIdentity(
  name: string,
  expected: ExpectedIdentity,
  clock: Clock,
  onWrong: (error: ConfigError) => void
): UpstreamIdentity {
  let shown: ShownIdentity | undefined
  let wrong: { readonly error: ConfigError; readonly sinceMs: number } | undefined

  function differenceIn(found: ShownIdentity): ConfigError | undefined {
    const { chainId, genesisHash } = expected
    const say = (what: string) => new ConfigError(`chain ${chainId}: ${name} ${what}`, { chainId })
    if (found.chainId !== BigInt(chainId)) return say(`serves chain ${found.chainId}, expected ${chainId}`)
    const isOther =
      genesisHash !== undefined && found.genesisHash !== undefined && found.genesisHash !== genesisHash
    if (!isOther) return undefined
    return say(`has the genesis block ${found.genesisHash}, the index is of ${genesisHash}`)
  }

  function judgeShown(found: ShownIdentity): void {
    const error = differenceIn(found)
    if (error !== undefined && error.message !== wrong?.error.message) onWrong(error)
    wrong = error && { error, sinceMs: clock.now() }
    // Without the block there is nothing to compare: it may be asked again, but is not believed.
    const isUnknown = expected.genesisHash !== undefined && found.genesisHash === undefined
    shown = isUnknown ? undefined : found
  }

  return {
    known: () => wrong?.error ?? shown,
    isDue: patience => wrong === undefined || clock.now() - wrong.sinceMs >= recheckMs[patience],
    forget() {
      if (wrong === undefined) shown = undefined
    },
    read([chainId, genesis]) {
      if (chainId === undefined || !chainId.ok) {
        throw new UpstreamError(`${name} does not tell its chain (${codeOf(chainId)})`, 'malformed')
      }
      const genesisHash = genesis?.ok && genesis.value !== null ? readGenesis(genesis.value, name) : undefined
      return {
        chainId: readOrRefuse(() => readQuantity(chainId.value, 'eth_chainId'), name),
        ...(genesisHash === undefined ? {} : { genesisHash })
      }
    },
    isExpected: found => differenceIn(found) === undefined,
    judge(found) {
      judgeShown(found)
      if (wrong === undefined && shown === undefined) {
        throw new UpstreamError(`${name} does not show its genesis block`, 'malformed')
      }
    },
    judgeAgain() {
      if (shown !== undefined) judgeShown(shown)
    }
  }
}

function readGenesis(block: unknown, name: string): Hash {
  return readOrRefuse(() => {
    const { number, hash } = readObject(block, 'block 0')
    if (readCount(number, 'block 0: number') !== 0) {
      throw new NodeContradictionError(`asked for block 0, it answered block ${number}`)
    }
    return readHash(hash, 'block 0: hash')
  }, name)
}

function readOrRefuse<T>(read: () => T, name: string): T {
  try {
    return read()
  } catch (error) {
    throw new UpstreamError(`${name}: ${error instanceof Error ? error.message : 'no identity'}`, 'malformed')
  }
}

function codeOf(outcome: NodeOutcome | undefined): string {
  const error = outcome?.ok === false ? outcome.error : undefined
  return error instanceof NodeRpcError ? String(error.rpcCode) : 'no answer'
}

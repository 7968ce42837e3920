import { NodeRpcError } from '../../platform/errors.ts'
import { type HttpUpstream, UpstreamError } from '../upstreams/httpUpstream.ts'
import { exchange, wordCall } from './exchange.ts'
import { readAnything } from './readAnswers.ts'
import { parseSolanaAddress } from './solanaAddress.ts'

/** Which cluster the nodes of one chain serve: all the same, or they are not used together. */
export interface ClusterIdentity {
  /**
   * Passes when the node serves the cluster of the one that was asked first. Each node is asked for its genesis hash
   * once; after a failure again.
   *
   * @throws {UpstreamError} it serves another cluster, or does not tell.
   */
  check(upstream: HttpUpstream, signal: AbortSignal): Promise<void>
}

export interface ClusterIdentityOptions {
  /** Bound on asking one node. */
  readonly timeoutMs: number
  /** Told once of each node that serves another cluster: a sentence that names both. */
  readonly onStranger: (problem: string) => void
}

export function createClusterIdentity({ timeoutMs, onStranger }: ClusterIdentityOptions): ClusterIdentity {
  const hashes = new Map<HttpUpstream, Promise<string>>()
  const strangers = new Set<HttpUpstream>()
  let reference: { readonly hash: string; readonly name: string } | undefined

  /** Shared by calls at the same time, so none of their signals may end it. */
  function genesisHashOf(upstream: HttpUpstream): Promise<string> {
    const known = hashes.get(upstream)
    if (known !== undefined) return known
    const asked = askGenesisHash(upstream, AbortSignal.timeout(timeoutMs))
    hashes.set(upstream, asked)
    asked.catch(() => hashes.delete(upstream))
    return asked
  }

  return {
    async check(upstream, signal) {
      const hash = await orAborted(genesisHashOf(upstream), signal)
      reference ??= { hash, name: upstream.name }
      if (hash === reference.hash) return
      const problem = `${upstream.name} serves another cluster than ${reference.name}`
      if (!strangers.has(upstream)) onStranger(problem)
      strangers.add(upstream)
      throw new UpstreamError(problem, 'refused')
    }
  }
}

async function askGenesisHash(upstream: HttpUpstream, signal: AbortSignal): Promise<string> {
  try {
    const hash = readAnything(await exchange(upstream, wordCall('getGenesisHash', []), signal))
    if (typeof hash === 'string' && parseSolanaAddress(hash) !== undefined) return hash
  } catch (error) {
    if (signal.aborted) throw new UpstreamError(`${upstream.name} did not answer in time`, 'timedOut')
    if (!(error instanceof NodeRpcError)) throw error
  }
  throw new UpstreamError(`${upstream.name} does not tell its genesis hash`, 'refused')
}

/** Settles as `promise` does, or rejects with the signal's reason before. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

import type { DeepSource } from '../../model/deepHistory.ts'
import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import type { Damage } from '../../platform/errors.ts'
import { scrubText } from '../../platform/scrubText.ts'
import type { SampledBlock } from './sampleBlocks.ts'

/** The result of one check of something that the server will need. */
export interface Finding {
  /** Subject in one or two words, such as `receipts`. Others script against it. */
  readonly check: string
  /** `warning` is for what works and should be attended to, `error` for what will not work. */
  readonly state: 'ok' | 'warning' | 'error'
  /** The finding in one sentence without an end mark. Never holds a key, nor more of a URL than its origin. */
  readonly found: string
  /** The next step; absent when there is nothing to do. */
  readonly advice?: string
  /** Waivers that the chain needs, as the configuration takes them. */
  readonly waivers?: readonly Waiver[]
  /** Every damaged part of an index that was met. */
  readonly damage?: readonly Damage[]
}

/** A finding and which part of the configuration it is about. */
export interface PlacedFinding extends Finding {
  /** Key in the configuration, such as `chains.evm[0].rpcUrls[1]`; `node` is Node.js itself. */
  readonly place: string
  /** Scheme, host and port of the URL there; absent where there is none. */
  readonly origin?: string
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, state: 'warning', found, advice }
}

export function failure(check: string, found: string, advice: string): Finding {
  return { check, state: 'error', found, advice }
}

/** A finding that is fine, or else a warning with advice. */
export function warnUnless(isFine: boolean, check: string, found: string, advice: string): Finding {
  return isFine ? ok(check, found) : warning(check, found, advice)
}

/** Calls a node for one check; a failure of the node is a finding. @param advice - in place of that on the failure. */
export async function tryNode(
  check: string,
  failed: 'warning' | 'error',
  call: () => Promise<Finding>,
  advice?: string
): Promise<Finding> {
  try {
    return await call()
  } catch (error) {
    return {
      check,
      state: failed,
      ...describeNodeFailure(error),
      ...(advice === undefined ? {} : { advice })
    }
  }
}

/** What an EVM node was seen to offer beyond blocks and state; absent members could not be found out. */
export interface NodeOffers {
  /** The oldest block that it still has with its receipts; 0: it has all. */
  readonly oldestBlock?: number
  /** It is a developer's node, which may copy a public chain. */
  readonly isDevNode?: boolean
  /** Its source of history older than an index, which `deepHistory` needs. */
  readonly olderHistory?: DeepSource
}

/** The findings about one node, and what the nodes of a chain are compared by. */
export interface NodeReport {
  readonly findings: readonly Finding[]
  /** Absent for a node of Solana, and for one that could not be asked. */
  readonly offers?: NodeOffers
  /** Absent when the node did not show it. */
  readonly genesisHash?: string
  /** Newest block or slot; absent when the node did not show it. */
  readonly height?: number
  /** Of a node of an EVM chain: blocks read of it, by ascending height. */
  readonly sample?: readonly SampledBlock[]
}

const maxSkewSeconds = 15
const oldHeadSeconds = 300

/** Judges the age of a node's newest block by the clock of this machine. @param name - such as `block 7`. */
export function judgeHead(name: string, timestampSeconds: number): Finding {
  const age = Math.floor(Date.now() / 1_000) - timestampSeconds
  if (age < -maxSkewSeconds) {
    return warning(
      'head',
      `${name} is from ${-age} s in the future`,
      "set this machine's clock, or the node's"
    )
  }
  const found = `${name}, ${Math.max(0, age)} s old`
  return warnUnless(
    age <= oldHeadSeconds,
    'head',
    found,
    'nothing if the chain rests; else the node is behind'
  )
}

/** Checks of one place in the configuration. */
export interface Look {
  readonly place: string
  /** The URL at that place, where there is one. */
  readonly url?: string | undefined
  /** Begins when called; a rejection becomes an error. A finding with a place of its own keeps that. */
  run(): Finding | Promise<Finding | readonly (Finding | PlacedFinding)[]>
}

/** Lists one check for each URL of a setting. */
export function listEach<T extends NodeEndpoint>(
  endpoints: readonly T[],
  place: string,
  check: (endpoint: T) => ReturnType<Look['run']>
): Look[] {
  return endpoints.map((endpoint, at) => ({
    place: `${place}[${at}]`,
    url: urlOf(endpoint),
    run: () => check(endpoint)
  }))
}

/**
 * Runs all checks at the same time.
 *
 * @param options.timeoutMs - a check that is not done by then is an error.
 * @param options.onProgress - called after each check with how many are done.
 * @returns in the order of `looks`, whatever was done first.
 */
export async function runLooks(
  looks: readonly Look[],
  options: { readonly timeoutMs: number; readonly onProgress?: (done: number, all: number) => void }
): Promise<readonly PlacedFinding[]> {
  const { timeoutMs, onProgress } = options
  const createError = () => new Error(`not done within ${timeoutMs / 1_000} s`)
  const fail = (error: unknown) =>
    failure(
      'reach',
      error instanceof Error ? error.message : String(error),
      'check that it can be reached from here'
    )
  let done = 0
  const results = await Promise.all(
    looks.map(async ({ place, url, run }) => {
      const found = await withDeadline({ timeoutMs, createError }, async () => run()).catch(fail)
      onProgress?.(++done, looks.length)
      return [found].flat().map(finding => ({ place, ...originOf(url), ...finding }))
    })
  )
  return results.flat()
}

/** Keeps the part of a URL that cannot be a key. */
function originOf(url: string | undefined): { readonly origin?: string } {
  return url === undefined ? {} : { origin: scrubText(url, 200) }
}

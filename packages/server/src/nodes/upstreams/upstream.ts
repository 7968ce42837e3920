import type { ErrorContext } from '@chain-data/index'
import type { Clock } from '../../platform/clock.ts'
import { createHistogram, type UpstreamFigures, upstreamBounds } from '../../platform/figures.ts'
import { createUpstreamHealth, type UpstreamHealth } from './health.ts'
import { createUsualTimes, type UsualTimes } from './hedge.ts'
import { createHttpUpstream, type HttpUpstreamOptions, type UpstreamAnswer } from './httpUpstream.ts'
import { createUpstreamIdentity, type IdentityRules, type UpstreamIdentity } from './identity.ts'
import { type BatchSize, type Capabilities, createBatchSize, createCapabilities } from './limits.ts'
import { createRequestWindow, type RequestLimits, type RequestWindow } from './requestWindow.ts'
import { AttemptTimeout, type ErrorJudge, UpstreamError } from './upstreamError.ts'

/** Describes a family of chains to the pool: how its nodes are asked, and what their answers and errors mean. */
export interface UpstreamFamily<N, S> {
  /** Begins every message of a failure, such as `chain 1: `. */
  readonly label: string
  /** Facts for the context of every failure. */
  readonly context: ErrorContext
  /** Words calls for one upstream. @returns its node for one attempt, which ends with `signal`. */
  connect(link: UpstreamLink): (signal: AbortSignal) => N
  readonly judgeError: ErrorJudge
  /** Absent: any node is taken for what its operator says. */
  readonly identity?: IdentityRules<N, S>
  /** Asks for the newest block, to compare upstreams; absent: they are compared by their other answers only. */
  askHead?(node: N): Promise<unknown>
}

/** One upstream as its family uses it. */
export interface UpstreamLink {
  /** `upstream 1`: the position in `rpcUrls`. */
  readonly name: string
  /** Counted from 1. */
  readonly position: number
  /** Takes out of the node's own words whatever may be a key in its URL. */
  hide(text: string): string
  /**
   * POSTs one JSON body once there is room; see `HttpUpstream.post`.
   * @param calls - in a batch; 1.
   */
  post(body: string, signal: AbortSignal, calls?: number): Promise<UpstreamAnswer>
  /** Runs one exchange and learns from how it ends: every `post` belongs in one. */
  track<T>(signal: AbortSignal, exchange: () => Promise<T>): Promise<T>
  readonly capabilities: Capabilities
  readonly batchSize: BatchSize
  /** Notes the newest block that it has named. */
  sawHead(head: number): void
  /** Takes it out of service, unless it is the last one: it named a block that the other upstreams do not have. */
  putAside(problem: string): void
  /** Returns what the caller keeps about this upstream; made by `create` at the first use, one for each function. */
  memory<T>(create: (clock: Clock) => T): T
}

/** One node of a chain, with all that is known about it. */
export interface Upstream<N, S> extends UpstreamLink {
  readonly health: UpstreamHealth
  readonly window: Pick<RequestWindow, 'size' | 'load'>
  readonly usualTimes: UsualTimes
  readonly counts: ReturnType<typeof createCounts>
  readonly createNode: (signal: AbortSignal) => N
  /** Absent where the family knows none. */
  readonly identity: UpstreamIdentity<S> | undefined
  /** Reports whether it may be called: of the right chain, with no back-off and no open breaker. */
  isInService(): boolean
  /** Reports whether a check of its head should ask it: those of another chain only now and then. */
  isCheckDue(): boolean
  figures(): Omit<UpstreamFigures, 'chainId' | 'role' | 'preferred'>
}

interface UpstreamOptions<N, S> extends HttpUpstreamOptions {
  readonly limits: RequestLimits
  readonly family: UpstreamFamily<N, S>
  readonly maxBatchCalls: number
  readonly clock: Clock
  /** The end of everything. */
  readonly closing: AbortSignal
  /** Returns the newest block that any upstream of the pool has named. */
  bestHead(): number
  /** Reports whether another upstream is in service. */
  hasOthers(): boolean
  /** Called with a sentence when it is put aside. */
  onAside(problem: string): void
}

/** @throws {ConfigError} when the URL cannot be used; the message never repeats it. */
export function createUpstream<N, S>(options: UpstreamOptions<N, S>): Upstream<N, S> {
  const { family, position, clock, closing } = options
  const http = createHttpUpstream(options)
  const { name } = http
  const health = createUpstreamHealth(clock)
  const window = createRequestWindow(clock, options.limits)
  const memories = new Map<unknown, unknown>()
  const counts = createCounts()

  async function post(body: string, signal: AbortSignal, calls = 1): Promise<UpstreamAnswer> {
    let wasSent = false
    try {
      return await window.run(signal, calls, () => {
        wasSent = true
        return http.post(body, signal)
      })
    } catch (error) {
      if (error instanceof AttemptTimeout && !wasSent)
        throw new UpstreamError(`${name} had no room in time`, 'busy')
      throw error
    }
  }

  async function track<T>(signal: AbortSignal, exchange: () => Promise<T>): Promise<T> {
    const startedMs = clock.now()
    try {
      const result = await exchange()
      health.succeeded()
      return result
    } catch (thrown) {
      const error =
        thrown instanceof AttemptTimeout && signal.aborted
          ? new UpstreamError(`${name} did not answer in time`, 'timedOut')
          : thrown
      // An error of the node is an answer, and so is that it is behind; an abort says nothing.
      if (!(error instanceof UpstreamError) || error.fault === 'behind') {
        if (!signal.aborted) health.succeeded()
        throw error
      }
      const { fault } = error
      // A large answer is one, too.
      if (fault === 'busy' || fault === 'tooLarge') throw error
      if (fault === 'throttled' || fault === 'timedOut') window.overloaded(startedMs)
      if (fault === 'unreachable' || fault === 'timedOut') identity?.forget()
      health.failed(fault, { retryAfterMs: error.retryAfterMs, startedMs })
      throw error
    }
  }

  const link: UpstreamLink = {
    ...http,
    position,
    post,
    track,
    capabilities: createCapabilities(name),
    batchSize: createBatchSize(options.maxBatchCalls, clock),
    sawHead: head => health.sawHead(head, Math.max(head, options.bestHead())),
    putAside(problem) {
      // It is wrong about one block; without any upstream there are none at all.
      if (!options.hasOthers()) return
      health.putAside()
      options.onAside(`${name} ${problem}`)
    },
    memory<T>(create: (clock: Clock) => T): T {
      if (!memories.has(create)) memories.set(create, create(clock))
      return memories.get(create) as T
    }
  }
  const createNode = family.connect(link)
  const { label, context } = family
  const identity =
    family.identity &&
    createUpstreamIdentity({ name, label, context, rules: family.identity, createNode, clock, closing })
  const isInService = () =>
    !identity?.isWrong() && health.backOffUntilMs <= clock.now() && health.breaker() !== 'open'

  return {
    ...link,
    health,
    window,
    usualTimes: createUsualTimes(),
    counts,
    createNode,
    identity,
    isInService,
    isCheckDue: () => (identity?.isWrong() ? identity.isDue() : isInService()),
    figures: () => ({
      position,
      ...counts.read(),
      concurrencyLimit: window.size(),
      batchLimit: link.batchSize.current(),
      ...(health.head === undefined ? {} : { head: health.head }),
      lagBlocks: health.lagBlocks,
      score: health.score(),
      outOfService: !isInService()
    })
  }
}

/** Counts the work of one upstream, for its figures. */
function createCounts() {
  const calls: Record<string, number> = {}
  const durations = createHistogram(upstreamBounds)
  const counts = { retries: 0, hedgesSent: 0, hedgesWon: 0 }
  return {
    work(outcome: string, durationMs: number) {
      calls[outcome] = (calls[outcome] ?? 0) + 1
      durations.note(durationMs / 1_000)
    },
    add(figure: keyof typeof counts) {
      counts[figure]++
    },
    read: () => ({ calls: { ...calls }, durations: durations.read(), ...counts })
  }
}

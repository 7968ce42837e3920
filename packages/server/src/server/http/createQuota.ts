import { RateLimiterRes } from 'rate-limiter-flexible'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { type Clock, steadyClock } from '../../platform/clock.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import type { Caller } from '../projects/Caller.ts'
import type { TakenQuota, TakeQuota } from '../rpc/createRpc.ts'
import { MemoryBuckets, type QuotaRule } from './memoryBuckets.ts'
import { PostgresBuckets } from './postgresBuckets.ts'
import { openQuotaDatabase } from './quotaDatabase.ts'

/** The quotas of all projects that have none of their own. */
export interface RateLimits extends QuotaRule {
  /** All client keys of one project together; absent: a quarter of what its server keys get. */
  readonly clientKeys?: QuotaRule | undefined
  /** One address with the client keys of one project; `false`, and absent: no limit. */
  readonly perAddress?: QuotaRule | false
  /** Where calls are counted: `memory` (the default) or the URL of a PostgreSQL that several servers share. */
  readonly store?: string
}

/** The calls that callers may make. */
export interface Quota {
  /** @param address - absent where it is not known; then there is no limit per address. */
  of(caller: Caller, address: string | undefined): TakeQuota
  /** Lets go of the database. */
  close(): Promise<void>
}

type Limiter = MemoryBuckets | PostgresBuckets

/** Whoever reads a page can use its client key, so all client keys of a project together get this part of a quota. */
const clientShare = 1 / 4
/** Of projects with quotas of their own; what is counted under a rule is forgotten with it. */
const largestNumberOfRules = 20_000

/**
 * Counts calls in token buckets: those with the server keys of a project, apart from them those with its client keys,
 * which so cannot use up what the server keys need, and of these the ones from each address. The calls of one backend
 * all come from its address, so server keys are not counted by address.
 *
 * @param limits - `false`: everything is allowed, but for projects with a quota of their own.
 * @param options.longestWaitMs - so long a call waits for a database before it is counted here.
 * @remarks With a database one round trip per request, however many calls it holds; two with a client key.
 *   `retryAfterMs` is the time until the bucket has room for one more call, so never shorter than the real wait.
 */
export function createQuota(
  limits: RateLimits | false,
  options: { readonly clock?: Clock; readonly logger?: Logger; readonly longestWaitMs?: number } = {}
): Quota {
  const { clock = steadyClock, logger = silentLogger, longestWaitMs = 500 } = options
  const { store = 'memory', perAddress = false } = limits === false ? {} : limits
  const database = store === 'memory' ? undefined : openQuotaDatabase(store, { clock, logger, longestWaitMs })
  const limiters = new BoundedMap<string, Limiter>(largestNumberOfRules)
  const limiterOf = (kind: string, rule: QuotaRule): Limiter => {
    const name = `${kind} ${rule.requestsPerSecond} ${rule.burst}`
    const known = limiters.get(name)
    if (known !== undefined) return known
    const limiter = database ? new PostgresBuckets(rule, database, clock) : new MemoryBuckets(rule, clock)
    limiters.set(name, limiter)
    return limiter
  }

  return {
    of(caller, address) {
      const { projectId, kind } = caller
      const takes: Take[] = []
      if (kind === 'client' && perAddress && address !== undefined) {
        const key = `address:${address}:${projectId}`
        takes.push(createTake('address', limiterOf('address', perAddress), perAddress, key))
      }
      const rule = ruleOf(caller, limits)
      if (rule) takes.push(createTake('project', limiterOf(kind, rule), rule, `${kind}:${projectId}`))
      return (calls, fitting = 'some') => takeFromAll(takes, calls, fitting)
    },
    close: async () => database?.close()
  }
}

function ruleOf({ kind, rateLimit: own }: Caller, limits: RateLimits | false): QuotaRule | false {
  const common = own ?? limits
  if (common === false || kind === 'server') return common
  if (own === undefined && limits !== false && limits.clientKeys) return limits.clientKeys
  return {
    requestsPerSecond: common.requestsPerSecond * clientShare,
    burst: Math.max(1, Math.floor(common.burst * clientShare))
  }
}

interface Take {
  take(calls: number): Promise<TakenQuota>
  giveBack(calls: number): void
}

function createTake(scope: TakenQuota['scope'], limiter: Limiter, rule: QuotaRule, key: string): Take {
  const msPerCall = 1_000 / rule.requestsPerSecond
  return {
    async take(calls) {
      try {
        await limiter.consume(key, calls)
        return { scope, allowed: calls, retryAfterMs: 0, msPerCall }
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal
        const refused = Math.min(calls, refusal.consumedPoints - rule.burst)
        return { scope, allowed: calls - refused, retryAfterMs: refusal.msBeforeNext, msPerCall }
      }
    },
    giveBack(calls) {
      // What is not given back comes back with time.
      limiter.reward(key, calls).catch(() => {})
    }
  }
}

/**
 * One after the other, the narrowest first, each asked for what the ones before it allow: an address that is refused takes
 * nothing of its project, not even for the time until it is given back. What a later one refuses goes back.
 */
async function takeFromAll(
  takes: readonly Take[],
  calls: number,
  fitting: 'some' | 'all'
): Promise<TakenQuota> {
  // Nothing limits this caller.
  let outcome: TakenQuota = { scope: 'project', allowed: calls, retryAfterMs: 0, msPerCall: 0 }
  for (const [index, { take }] of takes.entries()) {
    const { allowed: wanted } = outcome
    if (wanted === 0) break
    const taken = await take(wanted)
    const { allowed } = taken
    for (const earlier of takes.slice(0, index)) if (allowed < wanted) earlier.giveBack(wanted - allowed)
    outcome = { ...(taken.retryAfterMs > outcome.retryAfterMs ? taken : outcome), allowed }
  }
  const { allowed, retryAfterMs, msPerCall } = outcome
  if (fitting === 'some' || allowed === calls) return outcome
  for (const { giveBack } of takes) if (allowed > 0) giveBack(allowed)
  return { ...outcome, allowed: 0, retryAfterMs: retryAfterMs + (calls - allowed - 1) * msPerCall }
}

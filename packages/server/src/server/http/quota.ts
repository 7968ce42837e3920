import { BoundedMap } from '../../platform/boundedMap.ts'
import { andThen, type MaybePromise } from '../../platform/concurrency/maybePromise.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { quotaRefusal, type TakenQuota } from '../rpc/answerCalls.ts'
import { type RequestBody, readBody } from '../rpc/readBody.ts'
import type { Guard } from './guards.ts'
import {
  type Buckets,
  createDatabaseBuckets,
  openQuotaDatabase,
  type QuotaRule,
  smallestPart
} from './quotaDatabase.ts'
import type { Identified } from './share.ts'

/** Quotas of the projects that have none of their own. */
export interface RateLimits extends QuotaRule {
  /** All client keys of one project together; absent: a quarter of what its server keys get. */
  readonly clientKeys?: QuotaRule | undefined
  /** One address with the client keys of one project; `false`, and absent: no limit. */
  readonly perAddress?: QuotaRule | false
  /** The store of the counts: `memory` (the default) or the URL of a PostgreSQL that several servers share. */
  readonly store?: string
}

/**
 * Takes some calls from the caller's quota, at once.
 *
 * @param fitting - `some`: those that fit, the default; `all`: none where one does not fit, and `retryAfterMs` is how
 *   long all of them have to wait.
 */
type TakeQuota = (calls: number, fitting?: 'some' | 'all') => MaybePromise<TakenQuota>

/** Takes the calls of callers from their quotas. */
export interface Quota {
  /** @param address - absent where it is not known; then there is no limit per address. */
  of(caller: Caller, address: string | undefined): TakeQuota
  /** Closes the database. */
  close(): Promise<void>
}

/** Client keys are public, so all those of a project together get this part of its quota. */
const clientShare = 1 / 4
/** Maximum of buckets in memory, far more than one process serves at the same time; each takes some 200 bytes. */
const maxBuckets = 100_000

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
  options: { readonly now?: () => number; readonly logger?: Logger; readonly longestWaitMs?: number } = {}
): Quota {
  const { now = () => performance.now(), logger = silentLogger, longestWaitMs = 500 } = options
  const { store = 'memory', perAddress = false } = limits === false ? {} : limits
  const database = store === 'memory' ? undefined : openQuotaDatabase(store, { now, logger, longestWaitMs })
  const memory = createMemoryBuckets(now)
  const buckets = database === undefined ? memory : createDatabaseBuckets(database, memory)

  return {
    of(caller, address) {
      const { projectId, kind } = caller
      const counts: Count[] = []
      if (kind === 'client' && perAddress && address !== undefined) {
        counts.push({ scope: 'address', rule: perAddress, key: `address:${address}:${projectId}` })
      }
      const rule = ruleOf(caller, limits)
      if (rule) counts.push({ scope: 'project', rule, key: `${kind}:${projectId}` })
      return (calls, fitting = 'some') => takeFromAll(buckets, counts, calls, fitting)
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

/** @remarks The bucket that was not used for longest is forgotten first; it is then full. */
function createMemoryBuckets(now: () => number): Buckets {
  const fullAtMs = new BoundedMap<string, number>(maxBuckets)
  return {
    take(key, { requestsPerSecond, burst }, calls) {
      const nowMs = now()
      const msPerCall = 1_000 / requestsPerSecond
      const fullInMs = Math.max(0, (fullAtMs.get(key) ?? nowMs) - nowMs)
      const room = Math.floor(burst - fullInMs / msPerCall + smallestPart)
      const taken = Math.min(calls, Math.max(0, room))
      fullAtMs.set(key, nowMs + fullInMs + taken * msPerCall)
      return { taken, fullInMs: fullInMs + taken * msPerCall }
    }
  }
}

/** A bucket that a request is counted in. */
interface Count {
  readonly scope: TakenQuota['scope']
  readonly rule: QuotaRule
  readonly key: string
}

/**
 * Takes from one bucket after the other, the narrowest first, each for what the ones before it allow: an address that is refused takes
 * nothing of its project, not even for the time until it is given back. What a later one refuses goes back.
 */
function takeFromAll(
  buckets: Buckets,
  counts: readonly Count[],
  calls: number,
  fitting: 'some' | 'all'
): MaybePromise<TakenQuota> {
  const giveBack = (given: readonly Count[], unused: number) => {
    // What is not given back comes back with time.
    if (unused > 0)
      for (const { key, rule } of given) Promise.resolve(buckets.take(key, rule, -unused)).catch(() => {})
  }
  const takeFrom = (index: number, before: TakenQuota): MaybePromise<TakenQuota> => {
    const { allowed: wanted } = before
    const count = counts[index]
    if (count === undefined || wanted === 0) return before
    const { scope, rule, key } = count
    return andThen(buckets.take(key, rule, wanted), ({ taken: allowed, fullInMs }) => {
      giveBack(counts.slice(0, index), wanted - allowed)
      const msPerCall = 1_000 / rule.requestsPerSecond
      const waitMs = Math.max(1, Math.ceil(fullInMs - (rule.burst - 1) * msPerCall))
      const isLonger = allowed < wanted && waitMs > before.retryAfterMs
      const outcome = isLonger ? { scope, allowed, retryAfterMs: waitMs, msPerCall } : { ...before, allowed }
      return takeFrom(index + 1, outcome)
    })
  }
  // Where nothing limits this caller.
  const unlimited: TakenQuota = { scope: 'project', allowed: calls, retryAfterMs: 0, msPerCall: 0 }
  return andThen(takeFrom(0, unlimited), outcome => {
    const { allowed, retryAfterMs, msPerCall } = outcome
    if (fitting === 'some' || allowed === calls) return outcome
    giveBack(counts, allowed)
    return { ...outcome, allowed: 0, retryAfterMs: retryAfterMs + (calls - allowed - 1) * msPerCall }
  })
}

/** Characters that count as one call; more than any call needs: a list of 100 contracts has 4,500. */
const charactersPerCall = 32_768

/**
 * Guard: takes the calls of a body from the caller's quota and reads them. A single call needs room in the quota; of a
 * batch those that fit are answered.
 */
export function readCalls(
  quota: Quota,
  limits: { readonly jsonDepth: number; readonly batchEntries: number }
): Guard<Identified & { readonly text: string }, { readonly body: RequestBody; readonly quota: TakenQuota }> {
  return ({ text, caller, address }) => {
    const take = quota.of(caller, address)
    const readAndTake = () => {
      let body: RequestBody
      try {
        body = readBody(text, limits)
      } catch (failure) {
        // Nonsense costs as much as a call, or it would be the cheap way to keep a server busy.
        return andThen(take(1), taken => {
          requireRoom(taken, 1)
          throw failure
        })
      }
      return andThen(take(body.requests.length), taken => {
        if (!body.isBatch) requireRoom(taken, 1)
        return { body, quota: taken }
      })
    }
    // Reading takes the time of the thread by length, whatever is in it.
    const forLength = Math.floor(text.length / charactersPerCall)
    if (forLength === 0) return readAndTake()
    return andThen(take(forLength, 'all'), taken => {
      requireRoom(taken, forLength)
      return readAndTake()
    })
  }
}

function requireRoom(taken: TakenQuota, calls: number): void {
  if (taken.allowed < calls) throw quotaRefusal(taken, 0)
}

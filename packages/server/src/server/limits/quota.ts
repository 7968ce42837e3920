import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Guard } from '../guards/guards.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { quotaRefusal, type TakenQuota } from '../rpc/answerCalls.ts'
import { type RequestBody, readBody } from '../rpc/readBody.ts'
import type { Identified } from './share.ts'

/** At most `burst` calls at once and `requestsPerSecond` on average. */
interface QuotaRule {
  readonly requestsPerSecond: number
  readonly burst: number
}

/** Quotas of the projects that have none of their own. */
export interface RateLimits extends QuotaRule {
  /** All client keys of one project together; absent: a quarter of what its server keys get. */
  readonly clientKeys?: QuotaRule | undefined
  /** One address with the client keys of one project; `false`, and absent: no limit. */
  readonly perAddress?: QuotaRule | false
}

/**
 * Takes some calls from the caller's quota.
 *
 * @param fitting - `some`: those that fit, the default; `all`: none where one does not fit, and `retryAfterMs` is how
 *   long all of them have to wait.
 */
type TakeQuota = (calls: number, fitting?: 'some' | 'all') => TakenQuota

/**
 * Returns what takes calls of a caller.
 *
 * @param address - absent where it is not known; then there is no limit per address.
 */
export type Quota = (caller: Caller, address: string | undefined) => TakeQuota

/** Client keys are public, so all those of a project together get this part of its quota. */
const clientShare = 1 / 4
/** Maximum of buckets in memory, far more than one process serves at the same time; each takes some 200 bytes. */
const maxBuckets = 100_000
/** Tolerance of a count: calls are whole, and time is not. */
const smallestPart = 1e-6

/**
 * Counts calls in token buckets: those with the server keys of a project, apart from them those with its client keys,
 * which so cannot use up what the server keys need, and of these the ones from each address. The calls of one backend
 * all come from its address, so server keys are not counted by address.
 *
 * @param limits - `false`: everything is allowed, but for projects with a quota of their own.
 * @remarks `retryAfterMs` is the time until the buckets have room for one more call, so never shorter than the real wait.
 */
export function createQuota(limits: RateLimits | false, now: () => number = () => performance.now()): Quota {
  const { perAddress = false } = limits === false ? {} : limits
  /** The moment at which a bucket is full again. That which was not used for longest is forgotten first; it is then full. */
  const buckets = new BoundedMap<string, number>(maxBuckets)

  return ({ projectId, kind, rateLimit }, address) => {
    const counts: Count[] = []
    if (kind === 'client' && perAddress && address !== undefined) {
      counts.push({ scope: 'address', rule: perAddress, key: `address:${address}:${projectId}` })
    }
    const rule = ruleOf(kind, rateLimit, limits)
    if (rule) counts.push({ scope: 'project', rule, key: `${kind}:${projectId}` })
    return (calls, fitting = 'some') => takeFromAll(buckets, now(), counts, calls, fitting)
  }
}

function ruleOf(
  kind: Caller['kind'],
  own: QuotaRule | false | undefined,
  limits: RateLimits | false
): QuotaRule | false {
  const common = own ?? limits
  if (common === false || kind === 'server') return common
  if (own === undefined && limits !== false && limits.clientKeys) return limits.clientKeys
  return {
    requestsPerSecond: common.requestsPerSecond * clientShare,
    burst: Math.max(1, Math.floor(common.burst * clientShare))
  }
}

/** A bucket that a request is counted in. */
interface Count {
  readonly scope: TakenQuota['scope']
  readonly rule: QuotaRule
  readonly key: string
}

/** Takes from each bucket what all of them allow: an address that is refused takes nothing of its project, and the reverse. */
function takeFromAll(
  buckets: BoundedMap<string, number>,
  nowMs: number,
  counts: readonly Count[],
  calls: number,
  fitting: 'some' | 'all'
): TakenQuota {
  const found = counts.map(({ scope, key, rule: { requestsPerSecond, burst } }) => {
    const msPerCall = 1_000 / requestsPerSecond
    const fullInMs = Math.max(0, (buckets.get(key) ?? nowMs) - nowMs)
    const room = Math.max(0, Math.floor(burst - fullInMs / msPerCall + smallestPart))
    return { scope, key, burst, msPerCall, fullInMs, room }
  })
  const fits = Math.min(calls, ...found.map(({ room }) => room))
  const allowed = fitting === 'some' || fits === calls ? fits : 0
  // The calls that a caller who waits wants to find room for.
  const next = fitting === 'some' ? allowed + 1 : calls
  let taken: TakenQuota = { scope: 'project', allowed, retryAfterMs: 0, msPerCall: 0 }
  for (const { scope, key, burst, msPerCall, fullInMs, room } of found) {
    if (allowed > 0) buckets.set(key, nowMs + fullInMs + allowed * msPerCall)
    if (room >= calls) continue
    const retryAfterMs = Math.max(1, Math.ceil(fullInMs + (next - burst) * msPerCall))
    if (retryAfterMs > taken.retryAfterMs) taken = { scope, allowed, retryAfterMs, msPerCall }
  }
  return taken
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
    const take = quota(caller, address)
    // Reading takes the time of the thread by length, whatever is in it.
    const forLength = Math.floor(text.length / charactersPerCall)
    if (forLength > 0) requireRoom(take(forLength, 'all'), forLength)
    let body: RequestBody
    try {
      body = readBody(text, limits)
    } catch (failure) {
      // Nonsense costs as much as a call, or it would be the cheap way to keep a server busy.
      requireRoom(take(1), 1)
      throw failure
    }
    const taken = take(body.requests.length)
    if (!body.isBatch) requireRoom(taken, 1)
    return { body, quota: taken }
  }
}

function requireRoom(taken: TakenQuota, calls: number): void {
  if (taken.allowed < calls) throw quotaRefusal(taken, 0)
}

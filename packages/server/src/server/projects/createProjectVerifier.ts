import { createHmac, randomBytes } from 'node:crypto'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import { createKeyedPermits } from '../../platform/concurrency/permits.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import { quotaRule } from '../config/limitSchemas.ts'
import { keySchema, projectIdSchema } from '../config/projectsSchema.ts'
import type { Caller } from './createKeyRing.ts'
import type { ProjectRateLimit } from './projectsFile.ts'

/** The project of a key, by a host's own database. */
export interface VerifiedProject {
  /** Whose quota the call is counted in; may be another name than the caller sent. */
  readonly projectId: string
  /** Present: a publishable client key, for pages of these origins only. Absent: a server key. */
  readonly origins?: readonly string[]
  /** Own quota in place of the common one; `false`: none. `null`, as databases have it: the common one. */
  readonly rateLimit?: ProjectRateLimit | null
}

/**
 * Finds the project of a key in the host's own database. Called for projects that the configuration does not know.
 *
 * @param credentials.key - as the caller sent it; compare digests (HMAC or SHA-256 of 256-bit keys), and keep it nowhere.
 * @param credentials.origin - the web page's origin; absent where no browser says one. It is checked against `origins`
 *   after the answer.
 * @param credentials.signal - aborts when the answer would come too late.
 * @returns `undefined`, or the `null` of many databases, when project or key are wrong: the caller gets 401.
 * @throws anything when the database does not answer: the caller gets 503 and may try again.
 */
export type VerifyProject = (credentials: {
  readonly projectId: string
  readonly key: string
  readonly origin?: string
  readonly signal: AbortSignal
}) => Promise<VerifiedProject | undefined | null>

/** Bounds on asking the host. */
export interface VerifyLimits {
  /** Milliseconds until an answer is given up; 5,000 by default. */
  readonly timeoutMs?: number
  /** Questions at the same time, a tenth of them of one address; more are refused with 503. 100 by default. */
  readonly atOnce?: number
  /** Milliseconds that a right answer is good for, so that a revoked key works so long at most; 5,000 by default, 0: none. */
  readonly cacheMs?: number
}

/** Asks the host whose key it is. */
export interface ProjectVerifier {
  /**
   * @returns `undefined` when the host says that the credentials are wrong.
   * @throws {Refusal} `OVERLOADED`: the host did not answer. Unknown credentials are never answered as wrong ones.
   */
  verify(credentials: {
    readonly projectId: string
    readonly key: string
    readonly origin: string | undefined
    /** Whose questions are bounded together; absent where it is not known. */
    readonly address?: string | undefined
  }): Promise<Caller | undefined>
  /** Forgets remembered answers. */
  forget(): void
}

const defaults = { timeoutMs: 5_000, atOnce: 100, cacheMs: 5_000 }
const maxRemembered = 10_000
/** Share of the questions at the same time that one address may cause: every guess, and every other origin, is a new one. */
const addressShare = 1 / 10
const retryAfterMs = 1_000

type Question = Omit<Parameters<VerifyProject>[0], 'signal'>

/**
 * Puts bounds around a host's `verifyProject`: in time, in number at once, and one question for callers who ask the same
 * at the same time. A right answer is remembered for some seconds under a digest, a wrong one never.
 */
export function createProjectVerifier(
  verifyProject: VerifyProject,
  options: { readonly limits?: VerifyLimits; readonly logger: Logger; readonly now?: () => number }
): ProjectVerifier {
  const { logger, now = () => performance.now() } = options
  const { timeoutMs, atOnce, cacheMs } = { ...defaults, ...options.limits }
  // Of this process only, so that what is remembered is of no use to anybody who reads its memory later.
  const secret = randomBytes(32)
  let known = new BoundedMap<string, { readonly caller: Caller; readonly untilMs: number }>(maxRemembered)
  let asking = new Map<string, Promise<Caller | undefined>>()
  const underWay = createKeyedPermits()
  let failures = 0

  async function ask(question: Question, address: string | undefined): Promise<Caller | undefined> {
    const ofAddress = [`of ${address}`, Math.ceil(atOnce * addressShare)] as const
    const end = underWay.take([['all', atOnce], ...(address === undefined ? [] : [ofAddress])])
    if (end === undefined) throw notChecked('Too many credentials are being checked; try again.')
    try {
      const verified = await withDeadline({ timeoutMs }, signal =>
        Promise.resolve(verifyProject({ ...question, signal }))
      )
      const caller = toCaller(verified)
      if (failures > 0) logger.info('verifyProject answers again', { count: failures })
      failures = 0
      return caller
    } catch (error) {
      // Not the error itself: a host's database may put the key into it.
      const problem =
        error instanceof DeadlineError
          ? 'timeout'
          : error instanceof VerifierMistake
            ? error.message
            : nameOf(error)
      failures++
      // The 1st, 2nd, 4th, 8th ... in a row: every caller meets the same trouble.
      if (Number.isInteger(Math.log2(failures))) {
        logger.error('verifyProject failed', { problem, count: failures })
      }
      throw notChecked('The credentials could not be checked; try again.')
    } finally {
      end()
    }
  }

  function askOnce(
    name: string,
    question: Question,
    address: string | undefined
  ): Promise<Caller | undefined> {
    // Those of now: what is forgotten meanwhile shall not come back with this answer.
    const [asked, remember] = [asking, known]
    const untilMs = now() + cacheMs
    const answering = ask(question, address)
      .then(caller => {
        if (caller === undefined) remember.delete(name)
        else if (cacheMs > 0) remember.set(name, { caller, untilMs })
        return caller
      })
      .finally(() => asked.delete(name))
    asked.set(name, answering)
    return answering
  }

  return {
    async verify({ projectId, key, origin, address }) {
      // What no configuration would take is wrong; a database may fail at it, which would look like an outage.
      if (!projectIdSchema.safeParse(projectId).success || !keySchema.safeParse(key).success) return undefined
      // As JSON, so that no two credentials have the same text.
      const text = JSON.stringify([projectId, key, origin ?? null])
      const name = createHmac('sha256', secret).update(text).digest('base64')
      const found = known.get(name)
      if (found !== undefined && now() < found.untilMs) return found.caller
      const question = { projectId, key, ...(origin === undefined ? {} : { origin }) }
      return asking.get(name) ?? askOnce(name, question, address)
    },
    forget() {
      // An answer that is on its way may be from before.
      known = new BoundedMap(maxRemembered)
      asking = new Map()
    }
  }
}

class VerifierMistake extends Error {}

/** The host may be written without types. */
function toCaller(verified: VerifiedProject | undefined | null): Caller | undefined {
  if (verified === undefined || verified === null) return undefined
  const { projectId, origins, rateLimit } = Object(verified) as Partial<VerifiedProject>
  if (typeof projectId !== 'string' || projectId === '') {
    throw new VerifierMistake(
      'its answer has no projectId; expected { projectId, origins?, rateLimit? } or undefined'
    )
  }
  if (origins !== undefined && !(Array.isArray(origins) && origins.every(one => typeof one === 'string'))) {
    throw new VerifierMistake(
      'origins of its answer are no list of texts; expected such as ["https://dapp.example"]'
    )
  }
  const hasOwnQuota = rateLimit !== undefined && rateLimit !== null
  if (hasOwnQuota && rateLimit !== false && !quotaRule.safeParse(rateLimit).success) {
    throw new VerifierMistake(
      'rateLimit of its answer is none; expected { requestsPerSecond, burst } or false'
    )
  }
  return {
    projectId,
    kind: origins === undefined ? 'server' : 'client',
    ...(origins === undefined ? {} : { origins }),
    ...(hasOwnQuota ? { rateLimit } : {})
  }
}

function notChecked(message: string): Refusal {
  return new Refusal('OVERLOADED', message, { retryAfterMs })
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'it threw no error'
}

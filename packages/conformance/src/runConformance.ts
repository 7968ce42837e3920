import type { EndpointPath } from '@chain-data/protocol'
import { allChecks } from './checks/allChecks.ts'
import type { Check } from './checks/Check.ts'
import { vectorChecks } from './checks/vectorChecks.ts'
import { Broken, NotShown } from './checks/verdicts.ts'
import { hideSecrets } from './report/hideSecrets.ts'
import type { CheckResult, Outcome, Report } from './report/Report.ts'
import { createSubject, endpointPaths } from './survey/createSubject.ts'
import { hasMoved } from './survey/hasMoved.ts'
import type { Subject } from './survey/Subject.ts'
import { createService } from './wire/createService.ts'
import { createTurns } from './wire/createTurns.ts'
import { createWire, type Wire, WireError } from './wire/createWire.ts'

/** Which service is examined, and how. */
export interface ConformanceOptions {
  /** Its base address: the endpoints are below. */
  readonly baseUrl: string
  /** The project whose key is used. */
  readonly projectId: string
  /** A server key of the project; never part of a report. */
  readonly key: string
  /** What the host writes where the document has `svc_`; default `svc_`. */
  readonly methodPrefix?: string
  /** Default: the lowest that the service names when it is asked for one that it does not serve. */
  readonly evmChain?: number
  /** As `evmChain`, for Solana. */
  readonly solanaChain?: number
  /** EVM (`0x…`) and Solana addresses to look at. Without any, EVM ones are searched for on the chain. */
  readonly addresses?: readonly string[]
  /** Most EVM accounts that are looked at, found ones included; default 6. */
  readonly accounts?: number
  /** Which checks are run, by name; default all. */
  readonly only?: (name: string) => boolean
  /** Requests under way at the same time; default 8. */
  readonly concurrency?: number
  /** Of each exchange; default 30 000. */
  readonly timeoutMs?: number
  /** Told after each check, in the order in which they end. */
  readonly onResult?: (result: CheckResult, done: number, total: number) => void
}

/** What a check is, without running it. */
export interface CheckFacts {
  /** Stable name of the check. */
  readonly name: string
  /** What holds where it passes. */
  readonly shows: string
  /** JSON Pointer to the part of the document that says so. */
  readonly where: string
  /** Endpoints without which there is nothing to look at. */
  readonly endpoints: readonly string[]
  /** The extension it is about; absent: every service has to pass. */
  readonly extension?: string
}

/** Every check there is, in the order of reports. */
export function listChecks(): readonly CheckFacts[] {
  return allChecks.map(({ name, shows, where, endpoints, extension }) => ({
    name,
    shows,
    where,
    endpoints,
    ...(extension === undefined ? {} : { extension })
  }))
}

/** Checks whose work is under way at the same time; their requests have turns of their own. */
const checksAtOnce = 16

/**
 * Examines a service over HTTP, reading only: every vector of the specification, and every invariant on what its chains
 * hold.
 *
 * @returns What became of each check. A service that cannot be reached fails all of them.
 * @remarks Some hundred requests, two of them with wrong credentials. What changes on the chain meanwhile is read again
 *   before a verdict.
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const { baseUrl, concurrency = 8, timeoutMs = 30_000 } = options
  const wire = createWire({ baseUrl, concurrency, timeoutMs })
  try {
    return await examine(wire, options)
  } finally {
    wire.close()
  }
}

/** The same over a given wire, which stays open. */
export async function examine(wire: Pick<Wire, 'send'>, options: ConformanceOptions): Promise<Report> {
  const { baseUrl, projectId, key, methodPrefix, only = () => true, onResult } = options
  let requests = 0
  const send: Wire['send'] = request => {
    requests++
    return wire.send(request)
  }
  const service = createService({ send, projectId, key, methodPrefix })
  const { evmChain, solanaChain, addresses = [], accounts = 6 } = options
  const lookAfresh = () => createSubject(service, { evmChain, solanaChain, addresses, accounts })
  const subject = lookAfresh()
  const [, encoded = key] = service.credentials(projectId, key).authorization?.split(' ') ?? []
  const secrets = [key, encodeURIComponent(key), encoded]
  const checks = allChecks.filter(({ name }) => only(name))
  const inTurn = createTurns(checksAtOnce)
  let done = 0
  const results = await Promise.all(
    checks.map(check =>
      inTurn(async () => {
        const result = await runSettled(check, subject, lookAfresh, secrets)
        onResult?.(result, ++done, checks.length)
        return result
      })
    )
  )
  return { baseUrl: withoutCredentials(baseUrl), ...(await placesOf(subject)), requests, results }
}

/** A chain that goes on is looked at so often before a check that fails is believed. */
const looks = 4

/** A failure counts where the chain stood still, or where it is there at every look. */
async function runSettled(
  check: Check,
  first: Subject,
  lookAfresh: () => Subject,
  secrets: readonly string[]
): Promise<CheckResult> {
  let subject = first
  for (let look = 1; ; look++) {
    const result = await runCheck(check, subject, secrets)
    const isSure = result.outcome !== 'failed' || look === looks || vectorChecks.includes(check)
    if (isSure || !(await hasMoved(subject))) return result
    subject = lookAfresh()
  }
}

async function runCheck(check: Check, subject: Subject, secrets: readonly string[]): Promise<CheckResult> {
  const { name, shows, where } = check
  const end = (outcome: Outcome, reason?: string): CheckResult => ({
    name,
    shows,
    where,
    outcome,
    ...(reason === undefined ? {} : { reason: hide(reason, secrets) })
  })
  try {
    const missing = await missingFor(check, subject)
    if (missing !== undefined) return end(...missing)
    await check.run(subject)
    return end('passed')
  } catch (error) {
    if (error instanceof NotShown) return end('not-shown', error.message)
    if (error instanceof Broken) {
      const exchanges = error.exchanges.map(exchange => hideSecrets(exchange, secrets))
      return { ...end('failed', error.message), exchanges }
    }
    if (error instanceof WireError) {
      return end('failed', `${error.sent.verb} ${error.sent.target}: ${error.message}`)
    }
    // An answer that is malformed in a way that no check expects: its form is at fault, not the kit's.
    return end('failed', `an answer cannot be read: ${String(error)}`)
  }
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((all, secret) => all.replaceAll(secret, '***'), text)
}

/** Why a check has nothing to look at here. */
async function missingFor(check: Check, subject: Subject): Promise<[Outcome, string] | undefined> {
  for (const endpoint of check.endpoints) {
    if ((await subject.chainOf(endpoint)) !== undefined) continue
    const others = await Promise.all(endpointPaths.map(path => subject.chainOf(path).catch(() => undefined)))
    const isEmpty = others.every(chain => chain === undefined)
    return isEmpty
      ? ['failed', 'no chain is served at all']
      : ['not-shown', `no chain is served on ${endpoint}`]
  }
  const { extension } = check
  if (extension === undefined) return undefined
  const isOffered = await subject.offers(extension)
  if (isOffered === undefined) return ['not-shown', 'no chain is served to ask it on']
  return isOffered ? undefined : ['not-offered', `${extension}: the service does not have it`]
}

async function placesOf(subject: Subject): Promise<Pick<Report, 'evmChain' | 'solanaChain' | 'accounts'>> {
  const chainOf = (endpoint: EndpointPath) => subject.chainOf(endpoint).catch(() => undefined)
  const [evmChain, solanaChain] = await Promise.all([chainOf('/evm-chain'), chainOf('/solana')])
  return {
    ...(evmChain === undefined ? {} : { evmChain }),
    ...(solanaChain === undefined ? {} : { solanaChain }),
    accounts: subject.lookedAt()
  }
}

function withoutCredentials(url: string): string {
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  return parsed.href.replace(/\/$/, '')
}

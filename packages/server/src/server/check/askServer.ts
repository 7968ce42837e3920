import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from '@chain-data/index'
import type { HealthReport } from '../http/operatorPages.ts'

/** The answer at the configured address. `note` says it in words. */
export type ServerAnswer =
  | { readonly kind: 'report'; readonly report: HealthReport }
  | { readonly kind: 'not running' | 'not answering' | 'something else'; readonly note: string }

const answerWithinMs = 3_000
/** Time for phases to settle: right after a start a chain is still `starting`. */
const settleWithinMs = 3_000
const lookAgainMs = 200
const nobodyThere = new Set(['ECONNREFUSED', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH'])
const longestAnswerBytes = 4 * 1024 * 1024

/** Asks the server that listens at this address how its chains stand. */
export async function askServer(listen: {
  readonly host: string
  readonly port: number
}): Promise<ServerAnswer> {
  const readStores = 'The stores say:'
  if (listen.port === 0) {
    const note = `listen.port is 0, so the server's port is not known. ${readStores}`
    return { kind: 'not running', note }
  }
  const address = reachable(listen)
  const lastMoment = performance.now() + settleWithinMs
  for (;;) {
    const answer = await askOnce(address)
    if (typeof answer === 'string') {
      const note = {
        'not running': `No server is running at ${address}.`,
        'not answering': `What listens at ${address} does not answer.`,
        'something else': `What answers at ${address} is not a chain-data server.`
      }[answer]
      return { kind: answer, note: `${note} ${readStores}` }
    }
    const isSettling = [...answer.chains, ...(answer.solana ?? [])].some(({ phase }) => phase === 'starting')
    if (!isSettling || performance.now() >= lastMoment) return { kind: 'report', report: answer }
    await sleep(lookAgainMs)
  }
}

/** A server on every interface is reached over the loopback one. */
export function reachable({ host, port }: { readonly host: string; readonly port: number }): string {
  const named = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `${named.includes(':') ? `[${named}]` : named}:${port}`
}

async function askOnce(address: string): Promise<HealthReport | Exclude<ServerAnswer['kind'], 'report'>> {
  try {
    const response = await fetch(`http://${address}/health/ready`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs)
    })
    if (Number(response.headers.get('content-length') ?? 0) > longestAnswerBytes) return 'something else'
    const text = await response.text()
    return parseReport(text) ?? 'something else'
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') return 'not answering'
    // A connection that was made and then went wrong is to a program that speaks no HTTP.
    return nobodyThere.has(codeOf(error) ?? '') ? 'not running' : 'something else'
  }
}

function parseReport(text: string): HealthReport | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    if (!('ready' in value) || typeof value.ready !== 'boolean') return undefined
    if (!('chains' in value) || !areChains(value.chains)) return undefined
    if ('solana' in value && !areChains(value.solana)) return undefined
    return value as HealthReport
  } catch {
    return undefined
  }
}

function areChains(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      chain =>
        typeof chain === 'object' &&
        chain !== null &&
        typeof chain.chainId === 'number' &&
        typeof chain.phase === 'string' &&
        // One word: it goes to a terminal.
        /^[a-z]{1,20}$/i.test(chain.phase)
    )
  )
}

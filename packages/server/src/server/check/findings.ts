import type { Damage } from '@chain-data/index'
import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import { describeNodeFailure } from '../../nodes/upstreams/upstreamError.ts'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import { scrubText } from '../../platform/scrubText.ts'

/** The result of one check of something that the server will need. */
export interface Finding {
  /** Key in the configuration, such as `chains.evm[0].rpcUrls[1]`; absent: that of the check which found it. */
  readonly place?: string
  /** Scheme, host and port of the URL there; absent where there is none. */
  readonly origin?: string
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

/** Findings about one subject. */
export type Findings = readonly Finding[]

/** A finding with its place; `node` is Node.js itself. */
export interface PlacedFinding extends Finding {
  readonly place: string
}

/**
 * Judges by a table, one row for each finding: check (`place: check` where it has a place of its own), state, condition, sentence
 * and next step. An empty condition always holds, and of what is ok no next step is shown.
 *
 * @returns of each check, the first row whose condition holds.
 */
export function judge(
  [first = '', ...others]: TemplateStringsArray,
  ...values: readonly unknown[]
): Findings {
  // Values are filled in after the text is split: the message of a node may hold any character.
  const text = others.reduce((before, after, at) => `${before}{${at}}${after}`, first)
  const cellOf = (cell: string) => values[Number(cell.slice(1, -1))]
  const fill = (cell: string) => cell.replace(/\{\d+\}/g, part => String(cellOf(part)))
  const findings = new Map<string, Finding>()
  for (const row of text.split('\n').filter(line => /\S/.test(line))) {
    const [key = '', level = '', condition = '', ...texts] = row.split('|').map(cell => cell.trim())
    const [check = '', place] = fill(key).split(': ').reverse()
    if (findings.has(fill(key)) || (condition !== '' && !cellOf(condition))) continue
    const state = fill(level) as Finding['state']
    const [found = '', advice = ''] = texts.map(fill)
    const next = state === 'ok' || advice === '' ? {} : { advice }
    findings.set(fill(key), { ...(place && { place }), check, state, found, ...next })
  }
  return [...findings.values()]
}

/** The state of what is fine, or else works all the same. */
export function okIf(isFine: boolean): Finding['state'] {
  return isFine ? 'ok' : 'warning'
}

/** Calls a node for one check; a failure of the node is a finding. */
export async function tryNode(
  check: string,
  state: 'warning' | 'error',
  call: () => Promise<Findings>,
  other: { readonly advice?: string } = {}
): Promise<Findings> {
  return call().catch(error => [{ check, state, ...describeNodeFailure(error), ...other }])
}

/** Judges the age of a node's newest block by the clock of this machine. @param name - such as `block 7`. */
export function judgeHead(name: string, timestampSeconds: number): Findings {
  const age = Math.floor(Date.now() / 1_000) - timestampSeconds
  return judge`
    head | warning | ${age < -15} | ${name} is from ${-age} s in the future | set this machine's clock, or the node's
    head | ${okIf(age <= 300)} | | ${name}, ${Math.max(0, age)} s old | nothing if the chain rests; else the node is behind
  `
}

/** Scheme, host and port of a URL: the parts that cannot be a key. */
export const originOf = (url: string): string => scrubText(url, 200)

/** Words a finding and its next step in one line. Nodes may put anything into their errors; a terminal must not obey it. */
export function wordFinding({ found, advice }: Pick<Finding, 'found' | 'advice'>): string {
  const next = advice === undefined ? '' : `. ${advice.charAt(0).toUpperCase()}${advice.slice(1)}`
  return `${found}${next}`.replace(/\p{Cc}+/gu, ' ')
}

/** Words how long a node took to answer since `sentMs`, and that nobody else can read it where that is so. */
export function answeredSince(sentMs: number, endpoint: NodeEndpoint): string {
  const tls = /^(https|wss):/i.test(urlOf(endpoint)) ? ' over TLS' : ''
  return `in ${Math.round(performance.now() - sentMs)} ms${tls}`
}

/** Check of one place in the configuration; a rejection becomes an error. */
export interface Look extends Pick<PlacedFinding, 'place' | 'origin'> {
  run(): Findings | Promise<Findings>
}

/** Runs all checks at the same time, and keeps their order; one that is not done within `timeoutMs` is an error. */
export async function runLooks(
  looks: readonly Look[],
  { timeoutMs }: { readonly timeoutMs: number }
): Promise<readonly PlacedFinding[]> {
  const createError = () => new Error(`not done within ${timeoutMs / 1_000} s`)
  const results = looks.map(async ({ run, ...at }) => {
    const found = await withDeadline({ timeoutMs, createError }, async () => run()).catch(error => {
      const message = error instanceof Error ? error.message : error
      return judge`reach | error | | ${message} | check that it can be reached from here`
    })
    return found.map(finding => ({ ...at, ...finding }))
  })
  return (await Promise.all(results)).flat()
}

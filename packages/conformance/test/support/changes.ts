import type { ReceivedAnswer, SentRequest } from '../../src/wire/Exchange.ts'
import { ExactNumber, parseExact } from '../../src/wire/parseExact.ts'

/** Changes an answer; what it leaves alone it gives back. */
export type Change = (answer: ReceivedAnswer, request: SentRequest) => ReceivedAnswer

/** A call as it stands in a request. */
export interface SentCall {
  readonly method?: string
  readonly id?: unknown
  readonly params?: readonly unknown[]
}

/** JSON as a test changes it. */
// biome-ignore lint/suspicious/noExplicitAny: a broken service may write anything in any place.
export type Json = any

/** Writes what {@link parseExact} has read, digit by digit. */
function writeExact(value: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }
  return JSON.stringify(value, (_key, member: unknown) =>
    member instanceof ExactNumber ? rawJSON(member.text) : member
  )
}

/** None where a request is no JSON. */
function callsOf({ body = '' }: SentRequest): readonly SentCall[] {
  try {
    const read = JSON.parse(body) as SentCall | SentCall[]
    return Array.isArray(read) ? read : [read]
  } catch {
    return []
  }
}

/** Changes each answer, of a batch too, beside the call it belongs to. The change may write into the answer. */
export function onAnswers(change: (answer: Json, call: SentCall, target: string) => void): Change {
  return (answer, request) => {
    if (!/^[[{]/.test(answer.text)) return answer
    const calls = callsOf(request)
    const read = parseExact(answer.text) as Json
    const entries = Array.isArray(read) ? read : [read]
    for (const [at, entry] of entries.entries()) change(entry, calls[at] ?? {}, request.target)
    return { ...answer, text: writeExact(read) }
  }
}

/** Changes the results of one method; what the change returns takes their place, `undefined` leaves them. */
export function onResults(
  method: string,
  change: (result: Json, params: readonly Json[]) => unknown
): Change {
  const changed = onAnswers((answer, call) => {
    if (call.method !== method || answer.result === undefined) return
    answer.result = change(answer.result, call.params ?? []) ?? answer.result
  })
  // Most answers are of other methods, and need not be read.
  return (answer, request) => (request.body?.includes(`"${method}"`) ? changed(answer, request) : answer)
}

export const onHistories = (change: (records: Json[], options: Json, address: string) => unknown) =>
  onResults('svc_getTransactionsByAddress', (records, [address, options]) =>
    change(records, options, address)
  )

export const onHoldings = (change: (holdings: Json, list: Json, address: string) => unknown) =>
  onResults('svc_getTokensAndNFTs', (holdings, [address, list]) => change(holdings, list, address))

export const onSolana = (change: (holdings: Json, params: readonly Json[]) => unknown) =>
  onResults('enhancedGetTokensAndNFTs', change)

/** Changes the text of answers to calls of a method. */
export function onText(method: string, change: (text: string) => string): Change {
  return (answer, request) =>
    request.body?.includes(`"${method}"`) ? { ...answer, text: change(answer.text) } : answer
}

/** Changes the headers of some answers. */
export function onHeaders(change: (headers: Record<string, string>, request: SentRequest) => void): Change {
  return (answer, request) => {
    const headers = { ...answer.headers }
    change(headers, request)
    return { ...answer, headers }
  }
}

/** An address in lower case wherever it stands. */
export function lowerAddresses(value: Json): Json {
  return parseExact(writeExact(value).replace(/"0x[0-9a-fA-F]{40}"/g, text => text.toLowerCase()))
}

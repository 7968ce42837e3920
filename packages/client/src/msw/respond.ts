import { errors } from '@chain-data/protocol'
import { HttpResponse } from 'msw'
import { type Entry, errorOf } from './answerEntry.ts'
import type { Fault, Malformation } from './Fault.ts'
import { streamEvents } from './streamEvents.ts'

type ExchangeFault = Exclude<Fault, { readonly kind: 'delay' }>

const strangeId = '"an id that nobody sent"'
const page = '<!doctype html><title>Sign in</title><h1>Welcome to the network</h1>'

/** The HTTP response that carries these answers, or what the first entry with a fault makes of it. */
export function respond(entries: readonly Entry[], isBatch: boolean): Response {
  const fault = entries.find(entry => entry.fault !== undefined)?.fault
  if (fault !== undefined) return respondFault(fault, entries, isBatch)
  const [{ stream } = {}] = entries
  if (stream) return streamEvents(stream)
  return json(200, textOf(entries, isBatch))
}

/** The response of a whole exchange that went wrong. */
export function respondFault(fault: ExchangeFault, entries: readonly Entry[], isBatch: boolean): Response {
  switch (fault.kind) {
    case 'network':
      return HttpResponse.error()
    case 'http':
      return new HttpResponse(isBodyless(fault.status) ? null : fault.body, {
        status: fault.status,
        headers: { ...fault.headers }
      })
    case 'rpc':
      return refuse(fault)
    case 'malformed':
      return malformed(fault.malformation, entries, isBatch)
  }
}

/** A transport refusal: the case's own HTTP status, an error without an id, and the headers it promises. */
function refuse({ reason, data }: Extract<Fault, { readonly kind: 'rpc' }>): Response {
  const error = errorOf(reason, data)
  const headers: Record<string, string> = {}
  if (reason === 'UNAUTHENTICATED') headers['WWW-Authenticate'] = 'Basic realm="chain-data", charset="UTF-8"'
  if (reason === 'METHOD_NOT_ALLOWED') headers.Allow = 'POST, OPTIONS'
  const { retryAfterMs } = error.data as { readonly retryAfterMs?: number }
  if (retryAfterMs !== undefined) headers['Retry-After'] = String(Math.ceil(retryAfterMs / 1000))
  return json(errors[reason].httpStatus, JSON.stringify({ jsonrpc: '2.0', id: null, error }), headers)
}

function malformed(malformation: Malformation, entries: readonly Entry[], isBatch: boolean): Response {
  const change = (members: Readonly<Record<string, string>>) =>
    json(
      200,
      textOf(
        entries.map(entry => ({ members: { ...entry.members, ...members } })),
        isBatch
      )
    )
  switch (malformation) {
    case 'html':
      return new HttpResponse(page, { headers: { 'Content-Type': 'text/html; charset=utf-8' } })
    case 'empty':
      return json(200, '')
    case 'truncated': {
      const text = textOf(entries, isBatch)
      return json(200, text.slice(0, Math.ceil(text.length / 2)))
    }
    case 'wrongId':
      return change({ id: strangeId })
    case 'wrongVersion':
      return change({ jsonrpc: '"1.0"' })
    case 'resultAndError':
      return change({ result: 'null', error: JSON.stringify(errorOf('INTERNAL', {})) })
    case 'noResult':
      return json(200, textOf(entries.map(withoutOutcome), isBatch))
    case 'wrongShape':
      return json(200, textOf(entries, !isBatch))
    case 'missingEntry':
      return json(200, textOf(entries.slice(0, -1), true))
    case 'reversed':
      return json(200, textOf([...entries].reverse(), isBatch))
  }
}

function withoutOutcome({ members }: Entry): Entry {
  const { result: _result, error: _error, ...rest } = members
  return { members: rest }
}

function textOf(entries: readonly Entry[], isBatch: boolean): string {
  const texts = entries.map(({ members }) => {
    const pairs = Object.entries(members).map(([name, text]) => `"${name}":${text}`)
    return `{${pairs.join(',')}}`
  })
  return isBatch ? `[${texts.join(',')}]` : (texts[0] ?? '')
}

function json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new HttpResponse(text, { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

function isBodyless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

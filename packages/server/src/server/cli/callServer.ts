import { codeOf } from '@chain-data/index'
import { displayText } from '../../platform/displayText.ts'
import { isRecord } from '../config/isRecord.ts'
import type { AskedServer } from './findServer.ts'

/** A JSON-RPC call of an EVM chain. */
interface ServerCall {
  /** Name of the method without its prefix. */
  readonly method: string
  readonly chainId: number
  readonly params: readonly unknown[]
  /** Media types that the answer may have. */
  readonly accept: string
  readonly signal: AbortSignal
}

/** Sends a call to a running server. @throws what `fetch` throws; `failureOf` words it. */
export function callServer(
  { url, projectId, key, methodPrefix }: AskedServer,
  { method, chainId, params, accept, signal }: ServerCall
): Promise<Response> {
  return fetch(`${url}/evm-chain`, {
    method: 'POST',
    headers: {
      accept,
      authorization: `Basic ${Buffer.from(`${projectId}:${key}`).toString('base64')}`,
      'content-type': 'application/json'
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `${methodPrefix}${method}`, chainId, params }),
    redirect: 'manual',
    signal
  })
}

/** Names a failure of the connection, safe for a terminal. */
export function failureOf(error: unknown): string {
  return displayText(codeOf(error) ?? (error instanceof Error ? error.message : 'no connection'))
}

/** Returns the object that a text is the JSON of; `undefined` for any other text. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * Words the JSON-RPC error of a server, safe for a terminal.
 *
 * @param refusal - What the server does not do, as the begin of a sentence.
 */
export function describeRefusal(
  { message, data }: Record<string, unknown>,
  projectId: string,
  refusal: string
): string {
  const { reason, extraMessage, supportedChainIds } = isRecord(data) ? data : {}
  if (reason === 'UNAUTHENTICATED') {
    return `The server does not know project ${JSON.stringify(displayText(projectId))} with this key; expected --project and --key of one that it knows.`
  }
  const words = [reason, extraMessage ?? message].filter(text => typeof text === 'string').map(displayText)
  const chains = Array.isArray(supportedChainIds)
    ? ` It serves ${supportedChainIds.filter(Number.isInteger).join(', ') || 'none'}.`
    : ''
  return `${refusal}: ${words.join(': ')}${chains}`
}

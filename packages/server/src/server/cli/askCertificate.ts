import type { CertificateOptions, HistoryCertificate } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { displayText } from '../../platform/displayText.ts'
import { isRecord } from '../config/isRecord.ts'
import { type AskedServer, describeRefusal } from './findServer.ts'

/** No certificate came. The message is safe for a terminal. */
export class NoCertificateError extends Error {}

/** Longer than any server takes for one. */
const answerWithinMs = 300_000
const longestAnswerBytes = 64 * 1024 * 1024
/** A newer server may say more than is known here. */
const mostUnknownMembers = 10_000

/**
 * Asks a server for the certificate of an account.
 *
 * @returns what the document describes; members that a newer server adds are left out.
 * @throws {NoCertificateError} the server is away, refuses, or answers something else.
 */
export async function askCertificate(
  { url, projectId, key, methodPrefix }: AskedServer,
  chainId: number,
  address: string,
  options: CertificateOptions = {}
): Promise<HistoryCertificate> {
  const method = `${methodPrefix}verifyHistory`
  // Without an option the form of one parameter goes out, which every server understands.
  const params = options.verify === undefined ? [address] : [address, options]
  const { status, text } = await post(url, {
    authorization: `Basic ${Buffer.from(`${projectId}:${key}`).toString('base64')}`,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
  })
  const answer = parse(text)
  const error = isRecord(answer) && isRecord(answer.error) ? answer.error : undefined
  if (error !== undefined)
    throw new NoCertificateError(describeRefusal(error, projectId, 'The server gives no certificate'))
  if (status !== 200 || !isRecord(answer)) {
    throw new NoCertificateError(`What answers at ${url} is not a chain-data server (HTTP ${status}).`)
  }
  return readCertificate(answer.result)
}

async function post(
  url: string,
  { authorization, body }: { readonly authorization: string; readonly body: string }
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(`${url}/evm-chain`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs)
    })
    return { status: response.status, text: await readText(response) }
  } catch (error) {
    if (error instanceof NoCertificateError) throw error
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no connection'
    throw new NoCertificateError(
      `No server answers at ${url} (${isLate ? 'not in time' : displayText(code)}).`
    )
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > longestAnswerBytes) {
      throw new NoCertificateError(`The answer is larger than ${longestAnswerBytes} bytes.`)
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @throws {NoCertificateError} it is none. */
function readCertificate(result: unknown): HistoryCertificate {
  for (let tries = 0; tries < mostUnknownMembers; tries++) {
    const mistake = checkResult('svc_verifyHistory', result)
    if (mistake === undefined) return result as HistoryCertificate
    if (mistake.message !== 'is not a known member' || !removeMember(result, mistake.path)) {
      const what = displayText(`${mistake.path} ${mistake.message}`)
      throw new NoCertificateError(`What the server answered is no certificate: ${what}.`)
    }
  }
  throw new NoCertificateError('What the server answered has too many members that are not known here.')
}

function removeMember(value: unknown, path: string): boolean {
  const names = path
    .split('/')
    .slice(1)
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = names.pop() ?? ''
  let holder: unknown = value
  for (const name of names) {
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return false
    holder = Reflect.get(holder, name)
  }
  return (
    typeof holder === 'object' &&
    holder !== null &&
    Object.hasOwn(holder, last) &&
    Reflect.deleteProperty(holder, last)
  )
}

import type { CertificateOptions, HistoryCertificate } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { displayText } from '../../platform/displayText.ts'
import { isRecord } from '../config/isRecord.ts'
import { callServer, describeRefusal, failureOf, parseObject } from './callServer.ts'
import type { AskedServer } from './findServer.ts'
import { CommandError } from './reporting.ts'

/** Longer than any server takes for one. */
const answerWithinMs = 300_000
const longestAnswerBytes = 64 * 1024 * 1024
/** A newer server may say more than is known here. */
const mostUnknownMembers = 10_000

/**
 * Asks a server for the certificate of an account.
 *
 * @returns what the document describes; members that a newer server adds are left out.
 * @throws {CommandError} the server is away, refuses, or answers something else.
 */
export async function askCertificate(
  server: AskedServer,
  chainId: number,
  address: string,
  options: CertificateOptions = {}
): Promise<HistoryCertificate> {
  // Without an option the form of one parameter goes out, which every server understands.
  const params = options.verify === undefined ? [address] : [address, options]
  const { status, text } = await ask(server, { chainId, params })
  const answer = parseObject(text)
  if (isRecord(answer?.error)) {
    throw new CommandError(describeRefusal(answer.error, server.projectId, 'The server gives no certificate'))
  }
  if (status !== 200 || answer === undefined) {
    throw new CommandError(`What answers at ${server.url} is not a chain-data server (HTTP ${status}).`)
  }
  return readCertificate(answer.result)
}

async function ask(
  server: AskedServer,
  call: { readonly chainId: number; readonly params: readonly unknown[] }
): Promise<{ readonly status: number; readonly text: string }> {
  const signal = AbortSignal.timeout(answerWithinMs)
  try {
    const sent = { ...call, method: 'verifyHistory', accept: 'application/json', signal }
    const response = await callServer(server, sent)
    return { status: response.status, text: await readText(response) }
  } catch (error) {
    if (error instanceof CommandError) throw error
    const problem = signal.aborted ? 'not in time' : failureOf(error)
    throw new CommandError(`No server answers at ${server.url} (${problem}).`)
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > longestAnswerBytes) {
      throw new CommandError(`The answer is larger than ${longestAnswerBytes} bytes.`)
    }
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** @throws {CommandError} it is none. */
function readCertificate(result: unknown): HistoryCertificate {
  for (let tries = 0; tries < mostUnknownMembers; tries++) {
    const mistake = checkResult('svc_verifyHistory', result)
    if (mistake === undefined) return result as HistoryCertificate
    if (mistake.message !== 'is not a known member' || !removeMember(result, mistake.path)) {
      const what = displayText(`${mistake.path} ${mistake.message}`)
      throw new CommandError(`What the server answered is no certificate: ${what}.`)
    }
  }
  throw new CommandError('What the server answered has too many members that are not known here.')
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

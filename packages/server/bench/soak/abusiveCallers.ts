import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallCase } from '../../test/abuse/AbuseCase.ts'
import { bodiesCases } from '../../test/abuse/bodies.cases.ts'
import { credentialsCases } from '../../test/abuse/credentials.cases.ts'
import { envelopeCases } from '../../test/abuse/envelope.cases.ts'
import { framingCases } from '../../test/abuse/framing.cases.ts'
import { headsCases } from '../../test/abuse/heads.cases.ts'
import { paramsCases } from '../../test/abuse/params.cases.ts'
import { authorization } from '../http/messages.ts'
import { busyAccount } from './busyAccount.ts'
import type { Caller } from './honestCallers.ts'
import type { Tally } from './Tally.ts'

const cases: readonly CallCase[] = [...envelopeCases, ...paramsCases, ...bodiesCases, ...credentialsCases]
const onTheWire = [...headsCases, ...framingCases]
/** So long a caller that misbehaves on a socket stays. */
const heldMs = 3_000

/**
 * Callers who do what they should not: all cases of the abuse suite, wrong keys, requests byte by byte, answers cut off or never
 * read, batches as large as they may be. They call from addresses of their own, or their wrong keys would slow down
 * the honest ones.
 */
export function createAbusiveCallers(url: string, chainId: number, tally: Tally): readonly Caller[] {
  const { hostname, port, host } = new URL(url)
  let turn = 0
  const stranger = () => `198.51.${(turn >>> 8) & 255}.${turn++ & 255}`
  const whole = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'svc_getTransactionsByAddress',
    chainId,
    params: [busyAccount]
  })
  const post = (body: string | Buffer, headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(`${url}/evm-chain`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-forwarded-for': stranger(), ...headers },
      ...init
    } as RequestInit)
  const requestText = (body: string) =>
    `POST /evm-chain HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\nx-forwarded-for: ${stranger()}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  /** Opens a socket, lets `misuse` have it, and ends it after a while. */
  const onSocket = async (
    kind: string,
    misuse: (write: (text: string) => void) => Promise<void>,
    reads: boolean
  ) => {
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('error', () => {})
    if (reads) socket.on('data', data => (received = (received + data.toString('latin1')).slice(0, 4_096)))
    else socket.pause()
    await misuse(text => socket.write(text, 'latin1'))
    socket.destroy()
    tally.checkAbused(kind, Number(received.slice(9, 12)), received)
  }
  let caseTurn = 0
  let wireTurn = 0

  return [
    async () => {
      const {
        body,
        headers = {},
        verb = 'POST',
        target = '/evm-chain'
      } = cases[caseTurn++ % cases.length] as CallCase
      const all: Record<string, string | null> = {
        authorization,
        'content-type': 'application/json',
        'x-forwarded-for': stranger(),
        ...headers
      }
      const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== null)
      const hasBody = verb !== 'GET' && verb !== 'HEAD'
      const response = await fetch(`${url}${target}`, {
        method: verb,
        headers: sent,
        ...(hasBody ? { body } : {})
      })
      tally.checkAbused('abuse', response.status, await response.text())
    },
    async () => {
      const { bytes } = onTheWire[wireTurn++ % onTheWire.length] ?? { bytes: '' }
      await onSocket(
        'wire',
        async write => {
          write(bytes)
          await sleep(50)
        },
        true
      )
    },
    async () => {
      const response = await post(whole, { authorization: `Basic ${btoa(`demo:wrong ${turn}`)}` })
      tally.checkAbused('wrong key', response.status, await response.text())
    },
    async () => {
      const gone = new AbortController()
      const response = await post(whole, { authorization }, { signal: gone.signal })
      const reader = response.body?.getReader()
      await reader?.read()
      gone.abort()
      await reader?.read().catch(() => {})
      tally.count('aborted stream', response.status)
    },
    async () => {
      const response = await post(`[${Array(100).fill(whole).join()}]`, { authorization })
      // Some megabytes of it, and gone.
      const reader = response.body?.getReader()
      for (let i = 0; i < 50; i++) if ((await reader?.read())?.done !== false) break
      await reader?.cancel()
      tally.count('large batch', response.status)
    },
    async () => {
      await onSocket(
        'never read',
        async write => {
          write(requestText(whole))
          await sleep(heldMs)
        },
        false
      )
    },
    async () => {
      await onSocket(
        'slow request',
        async write => {
          for (const character of requestText(whole).slice(0, 60)) {
            write(character)
            await sleep(heldMs / 60)
          }
        },
        true
      )
    }
  ]
}

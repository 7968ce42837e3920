import { setTimeout as sleep } from 'node:timers/promises'
import { chainId } from '../http/dataset.ts'
import { accountAddress } from '../store/syntheticChain.ts'

const addressesEach = 10

/** Accounts that are in few of the blocks, each of another stream. */
export const accountsOf = (stream: number) =>
  Array.from({ length: addressesEach }, (_, at) => accountAddress(50_000 + stream * addressesEach + at))

/** Calls a method of an EVM chain as a project does. */
export function ask(
  url: string,
  projectId: string,
  method: string,
  params: readonly unknown[],
  signal?: AbortSignal
): Promise<Response> {
  return fetch(`${url}/evm-chain`, {
    method: 'POST',
    signal: signal ?? null,
    headers: {
      authorization: `Basic ${btoa(`${projectId}:key-of-${projectId}`)}`,
      'content-type': 'application/json',
      ...(method === 'svc_watchAddresses' && { accept: 'text/event-stream' })
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
  })
}

/** @returns the milliseconds until a stream is level, 503 included: its caller asks again as the document has it. */
export async function timeStream(
  url: string,
  projectId: string,
  addresses: readonly string[],
  after?: string,
  beganMs = performance.now(),
  onOpen = () => {}
): Promise<number> {
  const gone = new AbortController()
  const params = after === undefined ? [addresses] : [addresses, { after }]
  const answer = await ask(url, projectId, 'svc_watchAddresses', params, gone.signal)
  if (answer.status !== 200) {
    await answer.arrayBuffer()
    await sleep(1_000)
    return timeStream(url, projectId, addresses, after, beganMs, onOpen)
  }
  onOpen()
  let end = ''
  for await (const piece of answer.body ?? []) {
    end = `${end.slice(-20)}${Buffer.from(piece).toString('latin1')}`
    if (end.includes('"kind":"synced"')) break
  }
  const tookMs = performance.now() - beganMs
  gone.abort()
  return tookMs
}

import { DevnetError } from '../DevnetError.ts'

/** A node that takes a connection and stays silent must not be waited for without end. */
const answerTimeoutMs = 60_000

/** Calls one JSON-RPC method of a node and returns its `result` as it came. */
export type JsonRpc = (method: string, ...params: unknown[]) => Promise<unknown>

/**
 * A caller for one node.
 *
 * @returns Rejects with {@link DevnetError} `NODE_REFUSED` on an error answer and when there is no proper answer,
 *   naming the method; never the URL, which may hold a key.
 */
export function createJsonRpc(url: string): JsonRpc {
  let nextId = 1
  return async (method, ...params) => {
    const answer = await post(url, { jsonrpc: '2.0', id: nextId++, method, params }).catch(
      (error: unknown) => {
        throw new DevnetError('NODE_REFUSED', `${method}: the node gives no answer (${reasonOf(error)})`)
      }
    )
    if (answer.error !== undefined) {
      throw new DevnetError('NODE_REFUSED', `${method}: ${answer.error.message} (${answer.error.code})`)
    }
    return answer.result
  }
}

async function post(url: string, body: unknown) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerTimeoutMs)
  })
  return (await response.json()) as { result?: unknown; error?: { code: number; message: string } }
}

/** The code of a network failure says more than its message, which is always the same. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error as { cause?: { code?: string; message?: string } }
  return cause?.code ?? cause?.message ?? error.name
}

import { DevnetError } from '../DevnetError.ts'

/** Calls one JSON-RPC method of a node and returns its `result` as it came. */
export type JsonRpc = (method: string, ...params: unknown[]) => Promise<unknown>

/**
 * A caller for a node of our own.
 *
 * @returns Rejects with {@link DevnetError} `NODE_REFUSED` on an error answer, naming the method.
 */
export function createJsonRpc(url: string): JsonRpc {
  let nextId = 1
  return async (method, ...params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: nextId++, method, params })
    })
    const answer = (await response.json()) as { result?: unknown; error?: { code: number; message: string } }
    if (answer.error !== undefined) {
      throw new DevnetError('NODE_REFUSED', `${method}: ${answer.error.message} (${answer.error.code})`)
    }
    return answer.result
  }
}

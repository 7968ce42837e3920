import { Agent, request } from 'node:http'
import { authorization } from '../http/messages.ts'
import { chainFigures } from '../ingest/planChain.ts'

/** Asks for the newest transactions of an account, once. @returns their hashes. */
export type Asker = (address: string, limit: number) => Promise<readonly string[]>

/** Our server, asked as any caller asks it. @param url - where it listens. */
export function createServerAsker(url: string): Asker {
  const post = createPost(`${url}/evm-chain`)
  return async (address, limit) => {
    const answer = (await post({
      method: 'svc_getTransactionsByAddress',
      chainId: chainFigures.chainId,
      params: [address, { limit }]
    })) as readonly { readonly hash: string }[]
    return answer.map(({ hash }) => hash)
  }
}

/** The node's own search, which goes through its blocks. */
export function createNodeAsker(url: string): Asker {
  const post = createPost(url)
  return async (address, limit) => {
    const answer = (await post({
      method: 'ots_searchTransactionsBefore',
      params: [address, 0, limit]
    })) as { readonly txs: readonly { readonly hash: string }[] }
    return answer.txs.map(({ hash }) => hash)
  }
}

/** One connection that stays open; answers are parsed, as whoever asks has to. */
function createPost(url: string): (call: object) => Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return call =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call })
      const headers = {
        authorization,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body)
      }
      const outgoing = request(url, { method: 'POST', agent, headers }, response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const answer = JSON.parse(Buffer.concat(chunks).toString()) as {
            readonly result?: unknown
            readonly error?: unknown
          }
          if (answer.error === undefined) resolve(answer.result)
          else reject(new Error(`the answer is an error: ${JSON.stringify(answer.error)}`))
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

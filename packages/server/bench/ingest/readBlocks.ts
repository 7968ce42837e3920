/**
 * The ceiling, a process of its own: asks for the two bodies of each block over connections that stay open, parses them
 * as JSON, and does nothing else. Orders come as messages.
 */
import { Agent, request } from 'node:http'
import type { ReadFigures, ReadOrder } from './ingestMessages.ts'

interface Answer {
  readonly result: { readonly length?: number }
}

type Post = (body: string) => Promise<string>

function postByFetch(url: string): Post {
  const headers = { 'content-type': 'application/json' }
  return async body => (await fetch(url, { method: 'POST', headers, body })).text()
}

function postByHttp(url: string): Post {
  const agent = new Agent({ keepAlive: true })
  return body =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const outgoing = request(url, { method: 'POST', agent, headers }, response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
        response.on('error', reject)
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
}

const posts = { fetch: postByFetch, 'node:http': postByHttp }

async function read({ url, from, to, concurrency, way }: ReadOrder): Promise<ReadFigures> {
  const post = posts[way](url)
  let bytes = 0
  let transactions = 0
  let next = from
  const ask = async (method: string, ...params: readonly unknown[]): Promise<Answer> => {
    const text = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    bytes += text.length
    return JSON.parse(text) as Answer
  }
  const reader = async () => {
    while (next <= to) {
      const height = `0x${(next++).toString(16)}`
      // By height and not by hash: neither has to wait for the other.
      const [, receipts] = await Promise.all([
        ask('eth_getBlockByNumber', height, true),
        ask('eth_getBlockReceipts', height)
      ])
      transactions += receipts.result.length ?? 0
    }
  }
  const before = process.cpuUsage()
  const began = performance.now()
  await Promise.all(Array.from({ length: concurrency }, reader))
  const ms = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  return { ms, transactions, bytes, cpuMs: (user + system) / 1000 }
}

process.on('message', order => {
  void read(order as ReadOrder).then(figures => process.send?.(figures))
})
process.once('disconnect', () => process.exit(0))

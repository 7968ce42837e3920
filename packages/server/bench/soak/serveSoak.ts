/** A whole server over one node, a process of its own: `serveSoak.ts <node URL> <chain id> <store folder>`. Tells its URL as a message. */
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from '../../src/server/start/createServer.ts'
import type { Listening } from '../http/messages.ts'
import type { Health } from './Health.ts'

const [, , rpcUrl = '', chainId = '', folder = ''] = process.argv
const server = await createServer({
  listen: { host: '127.0.0.1', port: 0, operator: 'main', trustedProxies: ['loopback'] },
  store: `sqlite:${folder}`,
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: { evm: [{ chainId: Number(chainId), rpcUrls: [rpcUrl], traces: 'on', pollIntervalMs: 500 }] },
  rateLimit: false,
  log: { level: 'error' }
})
process.on('message', message => {
  if (message !== 'health') return
  const open = countOpen()
  const health: Health = { rssBytes: process.memoryUsage().rss, ...(open === undefined ? {} : { open }) }
  process.send?.(health)
})
process.once('disconnect', () => process.exit(0))
const url = await server.listen()
process.send?.({ url: String(url) } satisfies Listening)

function countOpen(): Health['open'] {
  let sockets = 0
  let files = 0
  try {
    for (const name of readdirSync('/proc/self/fd')) {
      if (isSocket(`/proc/self/fd/${name}`)) sockets++
      else files++
    }
  } catch {
    return undefined
  }
  return { sockets, files }
}

function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith('socket:')
  } catch {
    // Closed since it was listed, as the listing itself.
    return false
  }
}

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRoute } from '@chain-data/client/route'
import { toNodeListener } from './toNodeListener.ts'

const page = await readFile(new URL('page.html', import.meta.url))

const route = createRoute({
  baseUrl: process.env.CHAIN_DATA_TARGET ?? 'http://127.0.0.1:8080',
  projectId: 'demo',
  serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? 'demo-server-key',
  allow: ['svc_getSyncStatus', 'svc_getTransactionsByAddress', 'svc_getTokensAndNFTs', 'svc_watchAddresses']
})

const host = createServer(
  toNodeListener(async request => {
    const { pathname } = new URL(request.url)
    // Here a host may first ask for a session of its own.
    if (pathname.startsWith('/api/chain-data/')) return route(request)
    return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } })
  })
)
host.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = host.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})

process.once('SIGTERM', () => host.close())

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createProxyHandler } from '@chain-data/server/proxy'

const basePath = '/api/chain-data'
const page = await readFile(new URL('page.html', import.meta.url))

const proxy = createProxyHandler({
  target: process.env.CHAIN_DATA_TARGET ?? 'http://127.0.0.1:8080',
  projectId: 'demo',
  serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? 'demo-server-key',
  basePath,
  onProblem: problem => process.stderr.write(`${problem}\n`)
  // authorize: request => whether the session that its cookie names may ask
})

const host = createServer((request, response) => {
  if (request.url?.startsWith(`${basePath}/`)) proxy.nodeHandler(request, response)
  else response.setHeader('content-type', 'text/html; charset=utf-8').end(page)
})
host.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = host.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})

process.once('SIGTERM', () => host.close())

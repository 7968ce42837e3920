import { createServer as createHost } from 'node:http'
import { createServer, loadConfig } from '@chain-data/server'

const basePath = '/chain-data'
// From the file named on the command line, and from CHAIN_DATA_* variables.
const service = await createServer(await loadConfig(process.argv[2]), { basePath })

const host = createHost((request, response) => {
  if (request.url?.startsWith(`${basePath}/`)) service.nodeHandler(request, response)
  else response.end('The application itself.\n')
})
host.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = host.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})

process.once('SIGTERM', async () => {
  // The service first: it finishes its answers, and meanwhile its health page says that it is not ready.
  await service.close()
  host.close()
})

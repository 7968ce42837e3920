import { createServer, loadConfig } from '@chain-data/server'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'

const basePath = '/chain-data'
// From the file named on the command line, and from CHAIN_DATA_* variables.
const service = await createServer(await loadConfig(process.argv[2]), { basePath })

const app = new Hono()
app.get('/', context => context.text('The application itself.\n'))
app.post('/echo', async context => context.json(await context.req.json()))
// A Request does not tell who sent it, and quotas per address want to know.
app.all(`${basePath}/*`, context => {
  const { address = '' } = getConnInfo(context).remote
  return service.fetch(context.req.raw, { address })
})

const host = serve(
  { fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' },
  ({ port }) => {
    process.stdout.write(`http://127.0.0.1:${port}\n`)
  }
)

process.once('SIGTERM', async () => {
  // The service first: it finishes its answers, and meanwhile its health page says that it is not ready.
  await service.close()
  host.close()
})

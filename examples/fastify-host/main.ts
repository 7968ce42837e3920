import { createServer, loadConfig } from '@chain-data/server'
import createApp from 'fastify'

const basePath = '/chain-data'
// From the file named on the command line, and from CHAIN_DATA_* variables.
const service = await createServer(await loadConfig(process.argv[2]), { basePath })

const app = createApp()
app.register((scope, _options, done) => {
  // The service reads bodies itself, so nothing may be parsed in this scope.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null))
  scope.all(`${basePath}/*`, (request, reply) => {
    reply.hijack()
    service.nodeHandler(request.raw, reply.raw)
  })
  done()
})
app.get('/', async () => 'The application itself.\n')
app.post('/echo', async request => request.body)
// While the service finishes its answers, the host still listens.
app.addHook('preClose', () => service.close())

const url = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
process.stdout.write(`${url}\n`)

process.once('SIGTERM', () => app.close())

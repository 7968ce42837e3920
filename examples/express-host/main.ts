import { createServer, loadConfig } from '@chain-data/server'
import express from 'express'

// From the file named on the command line, and from CHAIN_DATA_* variables.
const service = await createServer(await loadConfig(process.argv[2]))

const app = express()
// Before any body parser, since the service reads bodies itself. Express takes the path off, so there is no basePath.
app.use('/chain-data', service.nodeHandler)
app.use(express.json())
app.get('/', (_request, response) => {
  response.send('The application itself.\n')
})
app.post('/echo', (request, response) => {
  response.json(request.body)
})

const host = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = host.address() as { port: number }
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})

process.once('SIGTERM', async () => {
  // The service first: it finishes its answers, and meanwhile its health page says that it is not ready.
  await service.close()
  host.close()
})

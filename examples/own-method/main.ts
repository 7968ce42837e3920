import { allFeatures, createServer, loadConfig } from '@chain-data/server'
import { counterparties } from './counterparties.ts'

// From the file named on the command line, and from CHAIN_DATA_* variables.
const config = await loadConfig(process.argv[2])
config.listen.port = Number(process.env.PORT ?? 3000)
const server = await createServer(config, { features: [...allFeatures, counterparties] })
process.stdout.write(`${await server.listen()}\n`)

process.once('SIGTERM', () => server.close())

// @ts-check
'use strict'
/** How far the index is, from a script that is CommonJS: `node commonJsScript.cjs`. Ends with 1 while it is not ready. */
const { createClient, RpcError } = require('@chain-data/client')

const client = createClient({
  baseUrl: process.env.CHAIN_DATA_URL ?? 'http://127.0.0.1:8080',
  projectId: 'demo',
  serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? 'demo-server-key'
})

client
  .getSyncStatus({ chainId: Number(process.argv[2] ?? 31337) })
  .then(({ chainId, ready, indexedTo = 'none' }) => {
    process.stdout.write(
      `chain ${chainId}: ${ready ? 'ready' : 'not ready'}, newest indexed block: ${indexedTo}\n`
    )
    process.exitCode = ready ? 0 : 1
  })
  .catch(error => {
    // Errors are classes of this copy and of an ESM one alike.
    process.stderr.write(`${error instanceof RpcError ? error.reason : error}\n`)
    process.exitCode = 1
  })

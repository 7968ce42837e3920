import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

/** Answers of the shape the service gives; the real one is tested elsewhere. */
const results: Record<string, unknown> = {
  svc_getTokensAndNFTs: { native: '1500', tokens: [{}], nfts: [{}, {}] },
  svc_getTransactionsByAddress: [
    { hash: '0xaa', status: 1 },
    { hash: '0xbb', status: 3, blockNumber: 7 }
  ]
}

test('prints what an account owns and its latest transactions', async () => {
  const server = createServer(async (request, response) => {
    const { id, method, params } = JSON.parse((await request.toArray()).join(''))
    expect(params[0]).toBe('0x01')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const args = ['--conditions=@chain-data/source', main, `http://127.0.0.1:${port}`, '0x01']
  const { stdout } = await promisify(execFile)(process.execPath, args).finally(() => {
    server.closeAllConnections()
    server.close()
  })
  expect(stdout).toBe("0x01 { native: '1500', tokens: 1, nfts: 2 }\n0xaa pending\n0xbb in block 7\n")
})

test('is ten lines', () => {
  expect(readFileSync(main, 'utf8').trimEnd().split('\n')).toHaveLength(10)
})

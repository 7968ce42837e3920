import { fileURLToPath } from 'node:url'
import { createClient } from '@chain-data/client'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningExample, startExample, whenReady } from './startExample.ts'

const chainId = 31337
/** An account of the node, and calls of it whose history is long enough to be streamed. */
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const calls = 40
const callData = `0x${'ab'.repeat(4_000)}`

/** An example that hosts the service. */
export interface HostExample {
  readonly name: string
  /** Its folder, as a URL. */
  readonly folder: URL
  /** Its program and the arguments of that. */
  readonly command: readonly string[]
  /** Where the service is. */
  readonly basePath: string
  /** Where the host itself answers a JSON body with the same; absent where it parses none. */
  readonly echoPath?: string
  /** What the host ends with after SIGTERM; absent: 0. */
  readonly exitCode?: number
}

/** What every example that hosts the service shows: the same tests for all of them, over a real node. */
export function describeHost({ name, folder, command, basePath, echoPath, exitCode = 0 }: HostExample): void {
  describe(name, () => {
    let node: AnvilNode
    let host: RunningExample
    beforeAll(async () => {
      node = await startAnvil({ mining: 'auto' })
      for (let count = 0; count < calls; count++) {
        const transaction = { from: address, to: address, data: callData }
        const params = [transaction]
        await fetch(node.rpcUrl, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_sendTransaction', params })
        })
      }
      host = await startExample(command, fileURLToPath(folder), {
        CHAIN_DATA_STORE: 'sqlite::memory:',
        CHAIN_DATA_PROJECT: 'demo:demo-server-key',
        [`CHAIN_DATA_EVM_${chainId}`]: node.rpcUrl
      })
      await whenReady(host.url + basePath)
    })
    afterAll(async () => {
      host?.child.kill('SIGKILL')
      await node?.stop()
    })
    const clientWith = (serverKey: string) =>
      createClient({ baseUrl: host.url + basePath, projectId: 'demo', serverKey, chainId, retries: 0 })

    const askHistory = () =>
      fetch(`${host.url}${basePath}/evm-chain`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`,
          'content-type': 'application/json'
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'svc_getTransactionsByAddress',
          chainId,
          params: [address]
        })
      })

    it('answers the client below its path, a long history as a stream', async () => {
      const history = await clientWith('demo-server-key').getTransactionsByAddress({ address })
      expect(history).toHaveLength(calls)
      const response = await askHistory()
      expect(response.headers.get('content-length')).toBeNull()
      expect(await response.json()).toMatchObject({ result: { length: calls } })
    })

    it('refuses a wrong key', async () => {
      const refused = clientWith('wrong').getTokensAndNFTs({ address })
      await expect(refused).rejects.toMatchObject({ status: 401, reason: 'UNAUTHENTICATED' })
    })

    it('serves the rest of the host as before', async () => {
      expect(await (await fetch(host.url)).text()).toContain('The application itself.')
      expect(
        (await fetch(`${host.url}/evm-chain`, { method: 'POST' })).headers.get('x-request-id')
      ).toBeNull()
    })

    if (echoPath !== undefined) {
      it('still parses the bodies of its own routes', async () => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":[1]}' }
        expect(await (await fetch(host.url + echoPath, init)).json()).toEqual({ a: [1] })
      })
    }

    it('told to end, finishes the answer under way and ends', async () => {
      const response = await askHistory()
      const ended = host.stop()
      expect(await response.json()).toMatchObject({ result: { length: calls } })
      expect(await ended).toBe(exitCode)
      await expect(fetch(host.url)).rejects.toThrow()
    })
  })
}

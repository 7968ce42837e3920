import { eventually } from '@chain-data/index/test'
import type { HistoryCertificate } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { Interface, type InterfaceAbi } from 'ethers'
import { createJsonRpc, type JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import { createServer } from '../../src/server/start/createServer.ts'
import { compileTestContracts } from '../evm/compileTestContracts.ts'
import type { TestStore } from '../support/testStores.ts'

/** A contract of `test/evm/contracts/` on the chain. */
export interface Deployed {
  readonly address: string
  readonly abi: Interface
}

/** A chain of a test node, mined on demand, behind a whole server that issues certificates of its accounts. */
export interface CertifiedWorld {
  readonly rpc: JsonRpc
  readonly accounts: readonly string[]
  /** Sends and does not mine; the node signs. @returns the hash. */
  send(transaction: Readonly<Record<string, unknown>>): Promise<string>
  call(
    from: string,
    contract: Deployed,
    method: string,
    args?: readonly unknown[],
    valueWei?: bigint
  ): Promise<string>
  /** Mines what waits in a block of its own. */
  mine(): Promise<void>
  deploy(name: string, args?: readonly unknown[]): Promise<Deployed>
  /** Waits until the index is level with the head. @throws when refused. */
  verify(address: string): Promise<HistoryCertificate>
  /** The answer with its headers, as it comes. */
  ask(method: string, params: readonly unknown[]): Promise<Response>
  level(): Promise<void>
  stopServer(): Promise<void>
  close(): Promise<void>
}

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

export async function startCertifiedWorld(options: {
  readonly rpcUrl: string
  /** What the server is told as its node; the node itself when absent. */
  readonly nodeUrl?: string
  readonly store: TestStore
  readonly chain?: Readonly<Record<string, unknown>>
}): Promise<CertifiedWorld> {
  const { rpcUrl, nodeUrl = rpcUrl, store, chain = {} } = options
  const rpc = createJsonRpc(rpcUrl)
  const compiled = compileTestContracts()
  const accounts = (await rpc('eth_accounts')) as string[]
  let serving: ReturnType<typeof createServer> | undefined

  const start = () =>
    createServer({
      store: store.url,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: 31337, rpcUrls: [nodeUrl], pollIntervalMs: 50, ...chain }] },
      rateLimit: false,
      overload: false,
      limits: { requestDeadlineMs: 60_000 },
      log: { level: 'silent' }
    })

  const send = async (transaction: Readonly<Record<string, unknown>>) =>
    (await rpc('eth_sendTransaction', { gas: '0x4c4b40', ...transaction })) as string

  async function level(): Promise<void> {
    serving ??= start()
    const server = await serving
    await eventually(
      'the index is level with its node',
      async () => {
        const { hash } = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
        const [status] = server.status()
        return status?.phase === 'following' && status.indexedTo?.hash === hash
      },
      30_000
    )
  }

  async function ask(method: string, params: readonly unknown[]): Promise<Response> {
    serving ??= start()
    return (await serving).fetch(
      new Request('http://service/evm-chain', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: 31337, params })
      })
    )
  }

  async function stopServer(): Promise<void> {
    await (await serving)?.close()
    serving = undefined
  }

  return {
    ...{ rpc, accounts, send, level, ask, stopServer },
    async call(from, { address: to, abi }, method, args = [], valueWei = 0n) {
      return await send({ from, to, data: abi.encodeFunctionData(method, args), value: hex(valueWei) })
    },
    async mine() {
      await rpc('evm_mine')
    },
    async deploy(name, args = []) {
      const contract = compiled[name]
      if (contract === undefined) throw new Error(`no contract is named ${name}`)
      const abi = new Interface(contract.abi as InterfaceAbi)
      const hash = await send({
        from: accounts[0],
        data: contract.bytecode + abi.encodeDeploy(args).slice(2)
      })
      await rpc('evm_mine')
      const receipt = (await rpc('eth_getTransactionReceipt', hash)) as Record<string, string>
      if (receipt.status !== '0x1') throw new Error(`${name} could not be deployed`)
      return { address: receipt.contractAddress ?? '', abi }
    },
    async verify(address) {
      await level()
      const { result, error } = (await (await ask('svc_verifyHistory', [address])).json()) as {
        result?: HistoryCertificate
        error?: unknown
      }
      if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
      const problem = checkResult('svc_verifyHistory', result)
      if (problem !== undefined) throw new Error(`not as in the document: ${JSON.stringify(problem)}`)
      return result
    },
    async close() {
      await stopServer()
      await store.remove()
    }
  }
}

export function hex(value: bigint | number): string {
  return `0x${value.toString(16)}`
}

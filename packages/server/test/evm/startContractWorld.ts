import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { HoldingCandidate } from '@chain-data/index'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import type { EvmHoldings, TransactionRecord } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { Interface, type InterfaceAbi } from 'ethers'
import { createServer } from '../../src/server/start/createServer.ts'
import { readIndex } from '../support/indexHarness.ts'
import { compileTestContracts } from './compileTestContracts.ts'

/** A contract of `contracts/`, deployed by a transaction. */
export interface DeployedContract {
  readonly address: string
  readonly abi: Interface
}

/** An anvil with contracts, indexed and served by the whole server. */
export interface ContractWorld {
  readonly anvil: AnvilNode
  /** Accounts that the node signs for; each has ether. */
  readonly accounts: readonly string[]
  rpc(method: string, ...params: unknown[]): Promise<unknown>
  /** Mines a contract in a block of its own; the first account sends it. */
  deploy(name: string, args?: readonly unknown[]): Promise<DeployedContract>
  /** Mines a call in a block of its own; a call that reverts is mined too. @returns the transaction's hash. */
  send(
    from: string,
    contract: DeployedContract,
    method: string,
    args?: readonly unknown[],
    valueWei?: bigint
  ): Promise<string>
  /** By the wire, once the newest block is indexed; valid by the document. */
  holdings(address: string, filter?: readonly string[]): Promise<EvmHoldings>
  /** Hashes of a whole history, newest first. */
  history(address: string): Promise<readonly string[]>
  /** What the index keeps of an account, as far as it has come. */
  candidates(address: string): Promise<readonly HoldingCandidate[]>
  close(): Promise<void>
}

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** @param options.startBlock - where the index begins; the server is started by the first question. */
export async function startContractWorld(
  options: { readonly startBlock?: number } = {}
): Promise<ContractWorld> {
  const { startBlock = 0 } = options
  const compiled = compileTestContracts()
  const folder = await temporaryFolder()
  const anvil = await startAnvil({ mining: 'auto' })
  const accounts = (await rpc('eth_accounts')) as string[]
  let serving: ReturnType<typeof serve> | undefined

  async function rpc(method: string, ...params: unknown[]): Promise<unknown> {
    const response = await fetch(anvil.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  async function transact(call: { from: string; to?: string; data: string; valueWei?: bigint }) {
    const { valueWei = 0n, ...rest } = call
    const gas = `0x${(29_000_000).toString(16)}`
    const transaction = { ...rest, gas, value: `0x${valueWei.toString(16)}` }
    const hash = (await rpc('eth_sendTransaction', transaction)) as string
    return eventually(`${hash} is mined`, async () => {
      return ((await rpc('eth_getTransactionReceipt', hash)) ?? undefined) as
        | { transactionHash: string; contractAddress: string; status: string }
        | undefined
    })
  }

  async function serve() {
    const server = await createServer({
      listen: { host: '127.0.0.1', port: 0 },
      store: `sqlite:${folder.path}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], startBlock, pollIntervalMs: 50 }] },
      rateLimit: false,
      overload: false,
      // What is answered here must not depend on how busy the machine is.
      limits: { requestDeadlineMs: 120_000 },
      log: { level: 'silent' }
    })
    return { server, origin: await server.listen() }
  }

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    serving ??= serve()
    const { server, origin } = await serving
    const head = Number(await rpc('eth_blockNumber'))
    await eventually(`block ${head} is indexed`, () => {
      const [status] = server.status()
      return status?.phase === 'following' && status.indexedTo?.number === head
    })
    const response = await fetch(`${origin}/evm-chain`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: anvil.chainId, params })
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
    return result
  }

  return {
    anvil,
    accounts,
    rpc,
    async deploy(name, args = []) {
      const contract = compiled[name]
      if (contract === undefined) throw new Error(`no contract is named ${name}`)
      const abi = new Interface(contract.abi as InterfaceAbi)
      const data = contract.bytecode + abi.encodeDeploy(args).slice(2)
      const { contractAddress: address, status } = await transact({ from: accounts[0] ?? '', data })
      if (status !== '0x1') throw new Error(`${name} could not be deployed`)
      return { address, abi }
    },
    async send(from, { address: to, abi }, method, args = [], valueWei) {
      const data = abi.encodeFunctionData(method, args)
      return (await transact({ from, to, data, ...(valueWei !== undefined && { valueWei }) })).transactionHash
    },
    async holdings(address, filter) {
      const result = await ask('svc_getTokensAndNFTs', filter === undefined ? [address] : [address, filter])
      const problem = checkResult('svc_getTokensAndNFTs', result)
      if (problem !== undefined) throw new Error(`not as in the document: ${JSON.stringify(problem)}`)
      return result as EvmHoldings
    },
    async history(address) {
      const records = (await ask('svc_getTransactionsByAddress', [address])) as TransactionRecord[]
      return records.map(({ hash }) => hash)
    },
    candidates: address =>
      readIndex(folder.path, async snapshot => {
        const all: HoldingCandidate[] = []
        for await (const chunk of snapshot.holdingCandidates(address as `0x${string}`)) all.push(...chunk)
        return all
      }),
    async close() {
      await (await serving)?.server.close()
      await anvil.stop()
      await folder.remove()
    }
  }
}

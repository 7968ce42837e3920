import { createContract, startAnvil } from '@chain-data/devnet'
import { getAddress, Interface, id, zeroPadValue } from 'ethers'
import { startHardhat } from '../support/startHardhat.ts'

/** History and holdings of one account in the words of the test. */
export interface AccountView {
  /** Newest first. */
  readonly history: readonly {
    readonly hash: string
    readonly blockNumber: number
    readonly timestamp: number
  }[]
  readonly native: string
  readonly tokens: readonly { readonly address: string; readonly name: string; readonly amount: string }[]
}

/** A development node that a test uses as a developer does: it is restarted on its port, taken back, and mined on. */
export interface DevNode {
  readonly chainId: number
  readonly rpcUrl: string
  /** Unlocked, with ether. */
  readonly sender: string
  readonly account: string
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>
  /** Gives the account one wei, and one base unit of the token, each in a block of its own. */
  live(times: number): Promise<void>
  /** Deploys the token; at the same address on every chain on which it comes first. */
  deployToken(name: string): Promise<void>
  /** Reads all of the account from the node's blocks and state. */
  truth(): Promise<AccountView>
  /** Ends the node's process and starts one on the same port: the same genesis block and nothing else, unless told otherwise. */
  restart(change?: { readonly otherGenesis: boolean }): Promise<void>
  stop(): Promise<void>
}

type Client = 'anvil' | 'hardhat'

const token = new Interface([
  'function mint(address to, uint256 amount)',
  'function balanceOf(address) view returns (uint256)',
  'function name() view returns (string)'
])
const transferTopic = id('Transfer(address,address,uint256)')
const genesisSeconds = 1_700_000_000
/** Nobody else uses it. */
const account = '0x00000000000000000000000000000000000dcafe'

/** Starts a node that mines on demand. */
export async function startDevNode(client: Client, chainId = 31337): Promise<DevNode> {
  let geneses = 0
  const start = (port = 0) =>
    client === 'anvil'
      ? startAnvil({ chainId, port, genesisTimestampSeconds: genesisSeconds + geneses })
      : startHardhat({ port, genesisSeconds: genesisSeconds + geneses })
  let node = await start()
  const { rpcUrl } = node
  return useDevNode(rpcUrl, {
    chainId,
    async restart({ otherGenesis } = { otherGenesis: false }) {
      await node.stop()
      if (otherGenesis) geneses++
      node = await start(Number(new URL(rpcUrl).port))
    },
    stop: () => node.stop()
  })
}

/** Uses a node that runs already. */
export async function useDevNode(
  rpcUrl: string,
  life: Pick<DevNode, 'chainId' | 'restart' | 'stop'>
): Promise<DevNode> {
  let lastId = 0

  async function rpc(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params })
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  const [sender = ''] = (await rpc('eth_accounts')) as string[]
  let tokenAddress = ''

  async function mineOf(transaction: object): Promise<Record<string, string>> {
    const hash = await rpc('eth_sendTransaction', { from: sender, gas: '0x4c4b40', ...transaction })
    await rpc('evm_mine')
    const receipt = (await rpc('eth_getTransactionReceipt', hash)) as Record<string, string>
    if (receipt?.status !== '0x1') throw new Error(`${hash} failed: ${JSON.stringify(receipt)}`)
    return receipt
  }

  async function call(name: 'balanceOf' | 'name', ...args: unknown[]): Promise<unknown> {
    const data = (await rpc(
      'eth_call',
      { to: tokenAddress, data: token.encodeFunctionData(name, args) },
      'latest'
    )) as string
    return data === '0x' ? undefined : token.decodeFunctionResult(name, data)[0]
  }

  return {
    ...{ rpcUrl, sender, account, rpc },
    async live(times) {
      for (let i = 0; i < times; i++) {
        await mineOf({ to: account, value: '0x1' })
        await mineOf({ to: tokenAddress, data: token.encodeFunctionData('mint', [account, 1]) })
      }
    },
    async deployToken(name) {
      const { contractAddress } = await mineOf(createContract('DevToken', [name, 'TOK', 6]))
      tokenAddress = getAddress(contractAddress ?? '')
    },
    async truth() {
      const head = Number(await rpc('eth_blockNumber'))
      const history: AccountView['history'][number][] = []
      for (let number = head; number >= 0; number--) {
        const block = (await rpc('eth_getBlockByNumber', `0x${number.toString(16)}`, true)) as {
          timestamp: string
          transactions: { hash: string; to: string | null }[]
        }
        for (const { hash, to } of block.transactions.toReversed()) {
          const { logs } = (await rpc('eth_getTransactionReceipt', hash)) as { logs: { topics: string[] }[] }
          const isNamed = logs.some(
            ({ topics }) => topics[0] === transferTopic && topics.includes(zeroPadValue(account, 32))
          )
          if (to !== account && !isNamed) continue
          history.push({ hash, blockNumber: number, timestamp: Number(block.timestamp) })
        }
      }
      const amount = (await call('balanceOf', account)) as bigint | undefined
      const name = (await call('name')) as string | undefined
      return {
        history,
        native: BigInt((await rpc('eth_getBalance', account, 'latest')) as string).toString(),
        tokens: amount ? [{ address: tokenAddress, name: name ?? '', amount: amount.toString() }] : []
      }
    },
    ...life
  }
}

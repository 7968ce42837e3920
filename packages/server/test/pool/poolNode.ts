import { startAnvil } from '@chain-data/devnet'
import { startHardhat } from '../support/startHardhat.ts'

/** A test node that mines only when it is told to, and whose accounts send by name. */
export interface PoolNode {
  readonly rpcUrl: string
  /** Unlocked, each with ether. */
  readonly accounts: readonly string[]
  call(method: string, ...params: unknown[]): Promise<unknown>
  /**
   * Sends one wei, by default to the last account.
   * @returns the hash.
   */
  send(transaction: {
    readonly from: string
    readonly nonce: number
    readonly gwei?: number
    readonly to?: string
    readonly data?: string
  }): Promise<string>
  mine(): Promise<void>
  stop(): Promise<void>
}

/** Starts a node of each client, by name. */
export const poolNodes: Readonly<Record<'anvil' | 'hardhat', () => Promise<PoolNode>>> = {
  anvil: async () => createPoolNode(await startAnvil()),
  hardhat: async () => createPoolNode(await startHardhat())
}

async function createPoolNode(node: { readonly rpcUrl: string; stop(): Promise<void> }): Promise<PoolNode> {
  const { rpcUrl } = node
  async function call(method: string, ...params: unknown[]): Promise<unknown> {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
  const accounts = (await call('eth_accounts')) as string[]
  return {
    rpcUrl,
    accounts,
    call,
    async send({ from, nonce, gwei = 100, to = accounts.at(-1), data }) {
      const hash = await call('eth_sendTransaction', {
        ...{ from, to, value: '0x1', gas: '0x186a0' },
        nonce: `0x${nonce.toString(16)}`,
        gasPrice: `0x${(BigInt(gwei) * 10n ** 9n).toString(16)}`,
        ...(data === undefined ? {} : { data })
      })
      return hash as string
    },
    async mine() {
      await call('evm_mine')
    },
    stop: node.stop
  }
}

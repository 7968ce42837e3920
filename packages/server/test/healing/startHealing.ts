import { eventually } from '@chain-data/index/test'
import type { SyncStatus } from '@chain-data/protocol'
import { createJsonRpc, type JsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import type { HealthReport } from '../../src/server/http/operatorPages.ts'
import { createServer } from '../../src/server/start/createServer.ts'
import type { TestStore } from '../support/testStores.ts'

/** The answer to a call. */
export interface Answer {
  readonly result?: readonly { readonly hash: string }[]
  readonly error?: {
    readonly data: {
      readonly reason: string
      readonly blockNumber?: number
      readonly lastCommonBlock?: { readonly blockNumber: number }
    }
  }
}

/** What is asked for besides an account. */
interface Asked {
  /** 31337 by default. */
  readonly chainId?: number
  readonly before?: string
}

/** Accounts that were paid by one transaction each. */
export interface PaidChain {
  readonly rpc: JsonRpc
  /** Pays an account that nobody has heard of, in a block of its own. */
  pay(): Promise<{ readonly address: string; readonly hash: string; readonly block: number }>
}

export async function createPaidChain(rpcUrl: string): Promise<PaidChain> {
  const rpc = createJsonRpc(rpcUrl)
  const [from] = (await rpc('eth_accounts')) as string[]
  let paid = 0
  return {
    rpc,
    async pay() {
      // Spread over the parts of the address index.
      const address = `0x${(++paid * 37).toString(16).padStart(3, '0')}${'5'.repeat(37)}`
      const hash = (await rpc('eth_sendTransaction', { from, to: address, value: '0x1' })) as string
      await rpc('evm_mine')
      const { blockNumber } = (await rpc('eth_getTransactionReceipt', hash)) as { blockNumber: string }
      return { address, hash, block: Number(blockNumber) }
    }
  }
}

/**
 * A whole server over a store, which checks it in the background all the time.
 * @param nodeUrls - of chain 31337, and of those with the next numbers.
 */
export async function startHealing(store: TestStore, nodeUrls: readonly string[]) {
  const server = await createServer({
    store: store.url,
    storeCheckSeconds: 1,
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: {
      evm: nodeUrls.map((url, i) => ({ chainId: 31_337 + i, rpcUrls: [url], pollIntervalMs: 50 }))
    },
    rateLimit: false,
    overload: false,
    log: { level: 'silent' }
  })
  const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

  async function call(method: string, params: readonly unknown[], chainId = 31_337): Promise<unknown> {
    const headers = { authorization, 'content-type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId, method, params })
    const request = new Request('http://service/evm-chain', { method: 'POST', headers, body })
    return (await server.fetch(request)).json()
  }

  return {
    status: (chain = 0) => server.status()[chain],
    async health() {
      const response = await server.fetch(new Request('http://service/health/ready'))
      return { httpStatus: response.status, ...((await response.json()) as HealthReport) }
    },
    async level(rpc: JsonRpc) {
      const { hash } = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
      await eventually('the index is level with its node', () => {
        const [status] = server.status()
        return status?.phase === 'following' && status.indexedTo?.hash === hash
      })
    },
    async history(address: string, { chainId, before }: Asked = {}): Promise<Answer> {
      const page = before === undefined ? [] : [{ before }]
      return (await call('svc_getTransactionsByAddress', [address, ...page], chainId)) as Answer
    },
    async syncStatus(): Promise<SyncStatus> {
      return ((await call('svc_getSyncStatus', [])) as { readonly result: SyncStatus }).result
    },
    close: () => server.close()
  }
}

import { startAnvil } from '@chain-data/devnet'
import type { AccountEvent, Address, IndexedBlock } from '@chain-data/index'
import {
  accountEventsIn,
  addressLength,
  type BlockRows,
  decodeDetailed,
  deriveRows,
  toHex
} from '@chain-data/index/record'
import { type DetailedTransaction, eventually } from '@chain-data/index/test'
import { fetchBlock } from '../../src/evm/blocks/blocks.ts'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { type BlockTraces, readTraces } from '../../src/evm/blocks/traces/readTraces.ts'
import { noWaivers } from '../../src/evm/blocks/verification/contradiction.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { normalizeAlone } from '../blocks/normalizeAlone.ts'

export const chainId = 31_337

/** A block as the index would keep it, with its traces. */
export interface TracedBlock {
  readonly number: number
  readonly transactions: readonly DetailedTransaction[]
  readonly events: ReadonlyMap<Address, readonly AccountEvent[]>
  readonly parties: readonly Address[]
}

interface Receipt {
  readonly transactionHash: string
  readonly contractAddress: string | null
  readonly blockNumber: string
  readonly status: string
}

/** An anvil that mines each transaction at once, read with its traces. */
export interface TracedChain {
  readonly rpcUrl: string
  /** Accounts that the node signs for. */
  readonly accounts: readonly string[]
  call<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T>
  /** Mines one transaction of the first account, or of `from`. */
  send(transaction: { readonly [member: string]: unknown }): Promise<Receipt>
  /** As the source of the indexer reads it. */
  block(number: number): Promise<TracedBlock>
  /** The traces of a block by one of the two methods only. */
  tracesBy(method: 'trace_block' | 'debug_traceBlockByHash', number: number): Promise<BlockTraces>
  close(): Promise<void>
}

export async function startTracedChain(hardfork = 'prague'): Promise<TracedChain> {
  const anvil = await startAnvil({ mining: 'auto', hardfork, chainId })
  const rpc = createEvmRpc({ chainId, rpcUrls: [anvil.rpcUrl] })
  const source = createEvmSource({ rpc, finality: 'auto', traces: 'on' })

  async function call<T>(method: string, ...params: readonly unknown[]): Promise<T> {
    return (await rpc.request({ method, params })) as T
  }
  const accounts = await call<string[]>('eth_accounts')

  return {
    rpcUrl: anvil.rpcUrl,
    accounts,
    call,
    async send(transaction) {
      const hash = await call('eth_sendTransaction', { from: accounts[0], gas: '0x1800000', ...transaction })
      return eventually(
        `${hash} is mined`,
        async () => (await call<Receipt | null>('eth_getTransactionReceipt', hash)) ?? undefined
      )
    },
    block: async number => unpack(await source.block(number)),
    async tracesBy(method, number) {
      const { ref, transactions } = await untracedBlock(rpc, number)
      const block = { ref, transactions: transactions.map(({ transaction }) => transaction) }
      return rpc.onOneNode('traces', node =>
        readTraces(
          {
            ...node,
            attempt: async (asked, ask) => (asked.includes('trace') && asked !== method ? undefined : ask())
          },
          block
        )
      )
    },
    async close() {
      rpc.close()
      await anvil.stop()
    }
  }
}

/** A block as it is before its traces are asked for. */
export function untracedBlock(rpc: EvmUpstreams, number: number): Promise<IndexedBlock> {
  return fetchBlock(rpc, number, verified => normalizeAlone(verified).block, { waivers: noWaivers })
}

function unpack(rows: BlockRows): TracedBlock {
  const { ref, ids, records, extras } = rows
  const { partyAddresses } = deriveRows(ref.number, rows)
  return {
    number: ref.number,
    transactions: decodeDetailed({ ids: Array.from(ids), bytes: records }),
    parties: addressesIn(partyAddresses),
    events: new Map(accountEventsIn(extras).map(({ address, events }) => [address, events]))
  }
}

function addressesIn(bytes: Uint8Array): Address[] {
  return Array.from({ length: bytes.length / addressLength }, (_, row) =>
    toHex(bytes.subarray(row * addressLength, (row + 1) * addressLength))
  )
}

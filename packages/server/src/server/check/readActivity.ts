import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readList, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import { createEvmRpc } from '../../nodes/evm/rpc.ts'
import { createSolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'

/** An account that was active on a chain lately, and how long a block of the node takes to read. */
export interface Activity {
  /** Absent where no transaction was found near the head. */
  readonly address?: string
  /** Milliseconds of one block with its transactions; absent where none was read. */
  readonly blockMs?: number
}

/** Number of blocks that are read below the newest one, at doubling distances. */
const samples = 20

/**
 * Reads who has sent the newest transaction of an EVM chain.
 *
 * @returns nothing where the node does not answer.
 */
export async function readEvmActivity(
  { chainId, url, head }: { readonly chainId: number; readonly url: string; readonly head: number },
  timeoutMs: number
): Promise<Activity> {
  const rpc = createEvmRpc({ chainId, rpcUrls: [url], timeoutMs, maxAttempts: 2 })
  try {
    return await rpc.onOneNode('newest transaction', node => readNewest(node, head))
  } catch {
    return {}
  } finally {
    rpc.close()
  }
}

async function readNewest(node: EvmNode, head: number): Promise<Activity> {
  const heights = Array.from({ length: samples }, (_, at) => head + 1 - 2 ** at).filter(height => height >= 0)
  const headers = await node.batch(
    heights.map(height => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] }))
  )
  const number = heights.find((_, at) => {
    const header = headers[at]
    return header?.ok && header.value !== null && transactionsOf(header.value).length > 0
  })
  const startedMs = performance.now()
  const method = 'eth_getBlockByNumber'
  const block = await node.request({ method, params: [toQuantity(number ?? head), true] })
  const blockMs = performance.now() - startedMs
  // Chains that put a transaction of their own into every block put it first.
  const last = transactionsOf(block).at(-1)
  return last === undefined ? { blockMs } : { blockMs, address: String(readObject(last, 'transaction').from) }
}

function transactionsOf(block: unknown): readonly unknown[] {
  return readList(readObject(block, 'block').transactions, 'block: transactions')
}

/**
 * Reads who has paid for the newest transaction of the token program.
 *
 * @returns nothing where the node does not answer, or keeps no transactions.
 */
export async function readSolanaActivity(url: string, timeoutMs: number): Promise<Activity> {
  const rpc = createSolanaRpc({ rpcUrls: [url], commitment: 'confirmed', maxAttempts: 2, timeoutMs })
  const limits = { deadlineMs: Date.now() + timeoutMs }
  try {
    const found = await rpc.call('getSignaturesForAddress', [TOKEN_PROGRAM, { limit: 1 }], limits)
    const newest = (found as readonly { readonly signature: string }[])[0]
    if (newest === undefined) return {}
    const options = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' }
    const answer = await rpc.call('getTransaction', [newest.signature, options], limits)
    const transaction = answer as { transaction: { message: { accountKeys: readonly string[] } } } | null
    const address = transaction?.transaction.message.accountKeys[0]
    return address === undefined ? {} : { address }
  } catch {
    return {}
  }
}

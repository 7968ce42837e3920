import type { Address } from '@chain-data/index'
import { type DownwardSearch, FoundBlocks, type Wanted } from '../../../evm/search/DownwardSearch.ts'
import {
  type RawObject,
  readCount,
  readHash,
  readList,
  readObject,
  readOptionalAddress
} from '../../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../../nodes/evm/rpc.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'

/** The longest page that nodes with this method give by default. */
const pageSize = 25

export const otsMethod = 'ots_searchTransactionsBefore'

/**
 * Finds the transactions in whose calls an account took part, page by page. The node keeps an index of addresses, so that a
 * page costs the same wherever the transactions are.
 *
 * @param options.withCalls - also where the account is called by a contract, or calls; else only as sender, receiver and
 *   created contract.
 * @see https://docs.otterscan.io/api-docs/ots-api
 */
export function createOtsSearch(
  { rpc, withCalls }: { readonly rpc: Pick<EvmRpc, 'request'>; readonly withCalls: boolean },
  { address, below }: Wanted
): DownwardSearch {
  const found = new FoundBlocks()
  let from = below

  return {
    get from() {
      return from
    },
    async advance(signal) {
      // Nothing happens in the genesis block, and 0 would mean the newest one.
      if (from <= 1) {
        from = 0
        return
      }
      const before = from
      const { transactions, isLast } = (await rpc.request(
        { method: otsMethod, params: [address, before, pageSize] },
        { signal, height: before - 1, read: raw => readPage(raw, before) }
      )) as Page
      for (const { number, hash, raw, receipt } of transactions) {
        if (withCalls || isDirect(raw, receipt, address)) found.addTransaction(number, hash)
      }
      // A page never ends in the middle of a block.
      from = isLast ? 0 : Math.min(...transactions.map(({ number }) => number))
    },
    take: lowest => found.take(lowest)
  }
}

interface Page {
  readonly transactions: readonly {
    readonly number: number
    readonly hash: `0x${string}`
    readonly raw: RawObject
    readonly receipt: RawObject | undefined
  }[]
  readonly isLast: boolean
}

function readPage(value: unknown, before: number): Page {
  const what = `${otsMethod} before block ${before}`
  const { txs, receipts, lastPage } = readObject(value, what)
  const receiptList = Array.isArray(receipts) ? receipts : []
  const transactions = readList(txs, `${what}: txs`).map((entry, index) => {
    const raw = readObject(entry, what)
    const number = readCount(raw.blockNumber, `${what}: blockNumber`)
    if (number >= before)
      throw new NodeContradictionError(`${what}: the node answered block ${number}`, { number })
    const receipt = receiptList[index]
    return {
      ...{ number, raw, hash: readHash(raw.hash, `${what}: hash`) },
      receipt: typeof receipt === 'object' && receipt !== null ? (receipt as RawObject) : undefined
    }
  })
  const isLast = lastPage === true
  if (transactions.length === 0 && !isLast) {
    throw new NodeContradictionError(`${what}: the page is empty, and not the last one`)
  }
  return { transactions, isLast }
}

/** A creation without its receipt may have created the account. */
function isDirect(raw: RawObject, receipt: RawObject | undefined, address: Address): boolean {
  const from = readOptionalAddress(raw.from, 'from')
  const to = readOptionalAddress(raw.to, 'to')
  if (from === address || to === address) return true
  if (to !== undefined) return false
  return receipt === undefined || readOptionalAddress(receipt.contractAddress, 'contractAddress') === address
}

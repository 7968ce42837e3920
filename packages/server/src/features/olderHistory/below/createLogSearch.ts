import type { Address, Hex } from '@chain-data/index'
import {
  consecutiveTransferTopic,
  depositTopic,
  readLogs,
  transferBatchTopic,
  transferSingleTopic,
  transferTopic,
  withdrawalTopic
} from '../../../evm/blocks/readLogs.ts'
import { userOperationTopic } from '../../../evm/blocks/readOperation.ts'
import { askForSpan, createSpanSearch, type SpanSize } from '../../../evm/search/createSpanSearch.ts'
import type { DownwardSearch, FoundBlocks, Wanted } from '../../../evm/search/DownwardSearch.ts'
import { type RawObject, readCount, readHash } from '../../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../../nodes/evm/rpc.ts'

export interface LogSearchOptions {
  readonly rpc: Pick<EvmRpc, 'request'>
  readonly size: SpanSize
  /** Read every `Transfer`, also those of contracts whose event has no indexed members. */
  readonly isThorough: boolean
  /** The logs of all transactions of a block, in the form of `eth_getLogs`. */
  logsOfBlock(number: number, signal: AbortSignal): Promise<readonly unknown[]>
}

/** Finds the token transfers and operations that name an account, and what it may hold, by the topics of their logs. */
export function createLogSearch(
  { rpc, size, isThorough, logsOfBlock }: LogSearchOptions,
  { address, below }: Wanted
): DownwardSearch {
  const filters = topicFilters(address, isThorough)
  return createSpanSearch({
    below,
    size,
    async ask(span, found, signal) {
      const answers = await Promise.all(
        filters.map(topics => askForSpan(rpc, 'eth_getLogs', span, { topics }, signal, requireHash))
      )
      const logs = answers.flat()
      addLogs(logs, address, found)
      return logs.length
    },
    async searchBlock(number, found, signal) {
      addLogs(await logsOfBlock(number, signal), address, found)
    }
  })
}

type Topics = readonly (readonly Hex[] | null)[]

/** Each event keeps its parties in other topics; a `Transfer` without indexed members has them in its data. */
function topicFilters(address: Address, isThorough: boolean): readonly Topics[] {
  const party: readonly Hex[] = [`0x${address.slice(2).padStart(64, '0')}`]
  const multi = [transferSingleTopic, transferBatchTopic] as const
  const ownFilters: readonly Topics[] = [
    [[transferTopic, depositTopic, withdrawalTopic], party],
    [[transferTopic, consecutiveTransferTopic, userOperationTopic, ...multi], null, party],
    [[consecutiveTransferTopic, ...multi], null, null, party]
  ]
  return isThorough ? [...ownFilters, [[transferTopic]]] : ownFilters
}

function requireHash({ transactionHash }: RawObject): void {
  readHash(transactionHash, 'log: transactionHash')
}

function addLogs(logs: readonly unknown[], address: Address, found: FoundBlocks): void {
  for (const log of logs) {
    const { blockNumber, transactionHash } = log as RawObject
    const { parties, candidates } = readLogs([log])
    const number = readCount(blockNumber, 'log: blockNumber')
    if (parties.includes(address))
      found.addTransaction(number, readHash(transactionHash, 'log: transactionHash'))
    const own = candidates.filter(({ owner }) => owner === address)
    if (own.length > 0) found.addCandidates(number, own)
  }
}

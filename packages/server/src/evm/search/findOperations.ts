import type { Address, Hash, UserOperation } from '@chain-data/index'
import { readLogs } from '../blocks/readLogs.ts'
import { userOperationTopic } from '../blocks/readOperation.ts'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { type RawObject, readCount, readHash } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { askForSpan, createSpanSearch, SpanSize } from './createSpanSearch.ts'

/** An operation that a node's logs show. */
export interface FoundOperation {
  readonly blockNumber: number
  readonly transactionHash: Hash
  readonly operation: UserOperation
}

/**
 * Finds the operations of an account in the logs of one node, by their sender.
 *
 * @param range.from - first block; `range.to` - last block.
 * @throws {NodeRpcError} and {UpstreamError}: the node does not answer for all blocks.
 * @throws the signal's reason when aborted.
 */
export async function findOperations(
  node: Pick<EvmNode, 'request'>,
  account: Address,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal
): Promise<readonly FoundOperation[]> {
  const operations: FoundOperation[] = []
  const rpc: Pick<EvmRpc, 'request'> = {
    async request(call, options) {
      const answer = await node.request(call)
      return options?.read === undefined ? answer : options.read(answer, node as EvmNode)
    }
  }
  const topics = [[userOperationTopic], null, [`0x${account.slice(2).padStart(64, '0')}`]]
  const search = createSpanSearch({
    below: to + 1,
    size: new SpanSize(),
    async ask(span, _, within) {
      const logs = await askForSpan(rpc, 'eth_getLogs', span, { topics }, within)
      for (const log of logs) operations.push(...operationsIn(log))
      return logs.length
    },
    async searchBlock(number) {
      throw new Error(`the node does not give the logs of block ${number}`)
    }
  })
  while (search.from > from) await search.advance(signal, Number.POSITIVE_INFINITY)
  return operations.filter(
    ({ blockNumber, operation }) => blockNumber >= from && operation.sender === account
  )
}

function operationsIn(log: RawObject): readonly FoundOperation[] {
  const { operations = [] } = readLogs([log])
  return operations.map(operation => ({
    blockNumber: readCount(log.blockNumber, 'log: blockNumber'),
    transactionHash: readHash(log.transactionHash, 'log: transactionHash'),
    operation
  }))
}

import { chooseSource, findOffers, gapsFrom, isTooNarrow, learnSpans } from '../../evm/below/chooseSource.ts'
import { SpanSize } from '../../evm/below/createSpanSearch.ts'
import { findOldestBlock } from '../../evm/blocks/findOldestBlock.ts'
import type { DeepSource } from '../../model/deepHistory.ts'
import { toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import type { Config } from '../config/config.ts'
import { type Finding, failure, ok, warning } from './findings.ts'

type EvmChain = Config['chains']['evm'][number]

const nobody = '0x0000000000000000000000000000000000000000'

/** Checks that the node still has the blocks from `startBlock` on, and says whether it keeps their state. */
export async function checkBlocks(
  rpc: EvmUpstreams,
  { startBlock }: Pick<EvmChain, 'startBlock'>,
  head: number
): Promise<{ readonly finding: Finding; readonly oldestBlock: number }> {
  const check = 'blocks'
  const { oldestBlock, isArchive } = await rpc.onOneNode(check, async node => {
    const oldestBlock = await findOldestBlock(node, head)
    const params = [nobody, toQuantity(Math.max(oldestBlock, Math.min(1, head)))]
    const [balance] = await node.batch([{ method: 'eth_getBalance', params }])
    return { oldestBlock, isArchive: balance?.ok === true && balance.value !== null }
  })
  const state = isArchive
    ? 'and their state (an archive node)'
    : 'without the state of old ones (not an archive node)'
  const found =
    oldestBlock === 0
      ? `it has all blocks, ${state}`
      : `its oldest block is ${oldestBlock} (pruned), ${state}`
  if (startBlock === 'latest' || startBlock >= oldestBlock) return { finding: ok(check, found), oldestBlock }
  const advice = `set startBlock to ${oldestBlock} or later, or take a node that has all blocks`
  return { finding: failure(check, `${found}; startBlock is ${startBlock}`, advice), oldestBlock }
}

/** Finds out what the node answers for history older than an index. */
export async function checkAddressIndex(
  rpc: EvmUpstreams,
  { traces }: Pick<EvmChain, 'traces'>,
  timeoutMs: number
): Promise<{ readonly finding: Finding; readonly olderHistory: DeepSource }> {
  const payments = traces !== 'off'
  const offers = await findOffers(rpc, payments, AbortSignal.timeout(timeoutMs))
  const spans = new SpanSize()
  learnSpans(spans, offers)
  const isCapped = isTooNarrow(spans, offers.head ?? 0)
  const olderHistory = chooseSource(offers, { payments, isCapped, isProvable: true })
  const found = {
    ots: 'transactions of an address are listed by ots_searchTransactionsBefore',
    trace_filter: 'transactions of an address are listed by trace_filter',
    state:
      'transactions of an address are found from old states: of accounts with a key, all but receipts of no value that log nothing',
    none: 'it does not list the transactions of an address, and has no old states'
  }[olderHistory]
  const more = [
    ...(gapsFrom(olderHistory, offers.state).includes('authorities')
      ? ['authorizations (EIP-7702) that others sent are not, since it has no old states']
      : []),
    ...(isCapped
      ? [
          `its trace_filter takes ${spans.blocks} blocks at once, too few for ${offers.head} (Reth: --rpc.max-trace-filter-blocks, Besu: --rpc-max-trace-filter-range)`
        ]
      : [])
  ]
  return { finding: ok('addresses', [found, ...more].join('; ')), olderHistory }
}

/**
 * Says that no node gives the history that `deepHistory` asks for. Tokens are found by logs, which all nodes give.
 * @param sources - what each node offers; absent: it was not found out.
 */
export function judgeDeepHistory(
  deepHistory: 'node' | 'strict',
  sources: readonly (DeepSource | undefined)[]
): readonly Finding[] {
  const check = 'deepHistory'
  if (sources.every(source => source === 'none'))
    return [
      warning(
        check,
        'no node can give older history: none lists the transactions of an address or has old states, so histories begin at the first indexed block',
        'take an archive node, or one with trace_filter or ots_searchTransactionsBefore (docs/deep-history.md), or set an earlier startBlock; holdings are complete all the same'
      )
    ]
  if (deepHistory === 'strict' && sources.every(source => source === 'none' || source === 'state'))
    return [
      warning(
        check,
        'it is "strict", and no node lists the transactions of an address: what is found from old states lacks receipts of no value that log nothing, so all older history is refused',
        'take a node with trace_filter or ots_searchTransactionsBefore (docs/deep-history.md), or set deepHistory to "node", which answers and names what is lacking'
      )
    ]
  return []
}

/** Checks whether the node refused calls for their rate while it was checked. */
export function checkRate(rpc: EvmUpstreams): readonly Finding[] {
  const [figures] = rpc.figures()
  const refused = (figures?.calls.throttled ?? 0) + (figures?.calls.exhausted ?? 0)
  if (refused === 0) return []
  const found = `it limited the rate of calls ${refused === 1 ? 'once' : `${refused} times`} during this check`
  return [
    warning('rate', found, 'indexing is slower for it: raise the limit there, or take a node without one')
  ]
}

import { SpanSize } from '../../evm/search/createSpanSearch.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { plural } from '../../platform/plural.ts'
import { judge, tryNode } from '../../server/check/findings.ts'
import type { NodeChecks, NodeReport } from '../../server/check/nodeReport.ts'
import type { Config } from '../../server/config/config.ts'
import { chooseSource, findOffers, gapsFrom, isTooNarrow, learnSpans } from './below/chooseSource.ts'
import { otsMethod } from './below/createOtsSearch.ts'

type EvmChain = Config['chains']['evm'][number]

/** Finds out which source of older history each node of a chain is. */
export const nodeChecks: NodeChecks = {
  async checkNode(chain, rpc, timeoutMs) {
    let report: NodeReport = { findings: [] }
    const findings = await tryNode('addresses', 'warning', async () => {
      report = await checkAddressIndex(chain, rpc, timeoutMs)
      return report.findings
    })
    return { ...report, findings }
  },
  judgeNodes: judgeOlder
}

async function checkAddressIndex({ traces }: EvmChain, rpc: EvmUpstreams, timeoutMs: number) {
  const payments = traces !== 'off'
  const offers = await findOffers(rpc, payments, AbortSignal.timeout(timeoutMs))
  const spans = new SpanSize()
  learnSpans(spans, offers)
  const isCapped = isTooNarrow(spans, offers.head ?? 0)
  const source = chooseSource(offers, { payments, isCapped, isProvable: true })
  const lacking = gapsFrom(source, offers.state).includes('authorities')
    ? '; authorizations (EIP-7702) that others sent are not, since it has no old states'
    : ''
  const narrow = isCapped
    ? `; its trace_filter takes ${plural(spans.blocks, 'block')} at once, too few for ${offers.head} (Reth: --rpc.max-trace-filter-blocks, Besu: --rpc-max-trace-filter-range)`
    : ''
  const findings = judge`
    addresses | ok | ${source === 'none'} | it does not list the transactions of an address, and has no old states${narrow}
    addresses | ok | ${source === 'state'} | transactions of an address are found from old states: of accounts with a key, all but receipts of no value that log nothing${narrow}
    addresses | ok | | transactions of an address are listed by ${source === 'ots' ? otsMethod : source}${lacking}${narrow}
  `
  return { findings, olderHistory: source }
}

/** Reports that no node gives the history that `deepHistory` asks for. Tokens are found by logs, which all nodes give. */
function judgeOlder({ deepHistory, startBlock }: EvmChain, place: string, reports: readonly NodeReport[]) {
  if (deepHistory === 'off' || startBlock === 0) return []
  const isNone = reports.every(({ olderHistory }) => olderHistory === 'none')
  const isState = reports.every(({ olderHistory }) => olderHistory === 'none' || olderHistory === 'state')
  return judge`
    ${place}.deepHistory: deepHistory | warning | ${isNone} | no node can give older history: none lists the transactions of an address or has old states, so histories begin at the first indexed block | take an archive node, or one with trace_filter or ots_searchTransactionsBefore (docs/deep-history.md), or set an earlier startBlock; holdings are complete all the same
    ${place}.deepHistory: deepHistory | warning | ${deepHistory === 'strict' && isState} | it is "strict", and no node lists the transactions of an address: what is found from old states lacks receipts of no value that log nothing, so all older history is refused | take a node with trace_filter or ots_searchTransactionsBefore (docs/deep-history.md), or set deepHistory to "node", which answers and names what is lacking
  `
}

import { startScriptedNode } from '../../test/solana/startScriptedNode.ts'
import { createValidator } from '../../test/solanaHistory/scripted/createValidator.ts'
import { playLargeWallet } from '../../test/solanaHistory/scripted/playLargeWallet.ts'

/** A process with a node, so that what its answers cost is not counted: its arguments are latency, token accounts, transactions. */
const [latencyMs = 0, tokenAccounts = 1, transactions = 1] = process.argv.slice(2).map(Number)
const { ledger, wallet } = playLargeWallet({ tokenAccounts, transactions })
const react = createValidator(ledger)
const counts: Record<string, number> = {}
const node = await startScriptedNode(call => {
  counts[call.method] = (counts[call.method] ?? 0) + 1
  node.calls.length = 0
  node.authorizations.length = 0
  return { ...(react(call) as { body: string }), afterMs: latencyMs }
})
/** Asked for: the calls since it was last asked. */
process.on('message', () => {
  process.send?.({ counts: { ...counts } })
  for (const method of Object.keys(counts)) delete counts[method]
})
process.send?.({ url: node.url, wallet })

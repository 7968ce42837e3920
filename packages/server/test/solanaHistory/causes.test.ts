import { eventually } from '@chain-data/index/test'
import { afterEach, expect, it, vi } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { newestForMs } from '../../src/features/solanaHistory/history/walletAccounts.ts'
import type { RpcCall } from '../solana/startScriptedNode.ts'
import { askCertificate, askHistory } from './askHistory.ts'
import { createLedger, type Ledger } from './scripted/createLedger.ts'
import { createValidator } from './scripted/createValidator.ts'
import { memo, transferSol } from './scripted/instructions.ts'
import { addressNamed } from './scripted/names.ts'
import { type LedgerService, serveLedger } from './serveLedger.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`causes: CHAIN_DATA_TEST_SEED=${seed}\n`)

const wallet = addressNamed('wallet of causes')
const other = addressNamed('other of causes')

const open: LedgerService[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const each of open.splice(0)) await each.close()
})

async function serve(...args: Parameters<typeof serveLedger>): Promise<LedgerService> {
  const served = await serveLedger(...args)
  open.push(served)
  return served
}

/** Three payments to the wallet at slots 100, 200 and 300. @param between - What happens after the second. */
function playPayments(amount: bigint, between: (ledger: Ledger) => void = () => {}): Ledger {
  const ledger = createLedger(`causes ${amount} ${between}`, new Map([[other, 10n ** 12n]]))
  for (const slot of [100, 200, 300]) {
    ledger.beginBlock(slot)
    ledger.add({ payer: other, instructions: [transferSol(other, wallet, amount)] })
    if (slot === 200) between(ledger)
  }
  ledger.beginBlock(400)
  return ledger
}

const signatureAt = ({ blocks }: Ledger, slot: number) =>
  blocks.find(block => block.slot === slot)!.transactions[0]!.signature

function readLater(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + newestForMs })
}

it('rent that was collected explains a difference, and the certificate stays proven', async () => {
  const ledger = playPayments(1_000n, each => each.reward(wallet, -300n, 'Rent'))
  const { service } = await serve(ledger)
  const gap = {
    ...{ account: wallet, older: signatureAt(ledger, 200), newer: signatureAt(ledger, 300) },
    ...{ post: '2000', pre: '1700', cause: 'rent' }
  }
  const { covers, continuity } = await askHistory(service, wallet)
  expect({ continuity, isWhole: covers.continuity }).toEqual({ continuity: { gaps: [gap] }, isWhole: true })
  const { verdict, findings } = await askCertificate(service, wallet)
  expect(verdict).toBe('proven')
  expect(findings).toMatchObject([{ kind: 'RENT', account: wallet, gap }])
})

/** A node that has paid a reward in the epoch of slot 200; epochs have 50 slots. */
function rewarding(ledger: Ledger, amount: number) {
  const react = createValidator(ledger)
  const result = (call: RpcCall, value: unknown) => ({
    body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result: value })
  })
  return (call: RpcCall) => {
    if (call.method === 'getEpochSchedule')
      return result(call, { slotsPerEpoch: 50, firstNormalEpoch: 0, firstNormalSlot: 0 })
    if (call.method !== 'getInflationReward') return react(call)
    const [, { epoch }] = call.params as [unknown, { epoch: number }]
    return result(call, [epoch === 4 ? { amount, effectiveSlot: 250 } : null])
  }
}

it('a reward of exactly the difference explains it, and is not asked for again once it is final', async () => {
  const ledger = playPayments(1_000_000n, each => each.reward(wallet, 700n, 'Voting'))
  const { service, node } = await serve(ledger)
  node.react = rewarding(ledger, 700)
  const { verdict, findings } = await askCertificate(service, wallet)
  expect(verdict).toBe('proven')
  expect(findings).toMatchObject([{ kind: 'REWARD', gap: { post: '2000000', pre: '2000700' } }])
  node.calls.length = 0
  await askCertificate(service, wallet)
  expect(node.calls.filter(({ method }) => method === 'getInflationReward')).toEqual([])
})

it('a reward of another amount explains nothing', async () => {
  const ledger = playPayments(1_000_000n, each => each.reward(wallet, 700n, 'Voting'))
  const { service, node } = await serve(ledger)
  node.react = rewarding(ledger, 699)
  const { verdict, findings } = await askCertificate(service, wallet)
  expect(verdict).toBe('failed')
  expect(findings).toMatchObject([
    { kind: 'GAP', gap: { older: signatureAt(ledger, 200), newer: signatureAt(ledger, 300) } }
  ])
})

it('a node that has removed the oldest blocks makes a history unprovable, never proven', async () => {
  const ledger = playPayments(1_000_000n)
  const { service } = await serve(ledger, { firstSlot: 150 })
  const { transactions, covers, continuity } = await askHistory(service, wallet)
  expect(transactions.map(({ slot }) => slot)).toEqual([300, 200])
  expect(covers).toMatchObject({ fromSlot: 150, reason: 'pruned', continuity: false })
  const gap = { account: wallet, newer: signatureAt(ledger, 200), post: '0', pre: '1000000', cause: 'pruned' }
  expect(continuity.gaps).toEqual([gap])
  const { verdict, findings } = await askCertificate(service, wallet)
  expect(verdict).toBe('unprovable')
  expect(findings).toMatchObject([{ kind: 'HISTORY_PRUNED', gap }])
})

it('removed blocks make it unprovable also where the wallet had nothing before', async () => {
  const { service } = await serve(playPayments(1_000_000n), { firstSlot: 50 })
  const { verdict, findings } = await askCertificate(service, wallet)
  expect({ verdict, kinds: findings.map(({ kind }) => kind) }).toEqual({
    ...{ verdict: 'unprovable', kinds: ['HISTORY_PRUNED'] }
  })
})

it('nodes that do not say which blocks they have make it unprovable', async () => {
  const ledger = playPayments(1_000_000n)
  const { service, node } = await serve(ledger)
  const react = createValidator(ledger)
  node.react = call => react(call.method === 'getFirstAvailableBlock' ? { ...call, method: 'none' } : call)
  const { verdict, findings, covers } = await askCertificate(service, wallet)
  expect(covers.reason).toBe('unknown')
  expect({ verdict, kinds: findings.map(({ kind }) => kind) }).toEqual({
    ...{ verdict: 'unprovable', kinds: ['FIRST_SLOT_UNKNOWN'] }
  })
})

it('a signature that a node leaves out is a gap, and is there once the node lists it again', async () => {
  const ledger = playPayments(1_000_000n)
  const omits = new Set([signatureAt(ledger, 200)])
  const { service } = await serve(ledger, { omits })
  expect((await askCertificate(service, wallet)).verdict).toBe('failed')
  omits.clear()
  readLater()
  const { transactions, covers } = await askHistory(service, wallet)
  expect(transactions.map(({ slot }) => slot)).toEqual([300, 200, 100])
  expect(covers.continuity).toBe(true)
  expect((await askCertificate(service, wallet)).verdict).toBe('proven')
})

it('a node that answers null for one transaction in twenty refuses none of 200 calls', async () => {
  const random = createRandom(seed)
  const ledger = createLedger('nulls', new Map([[other, 10n ** 12n]]))
  const wallets = Array.from({ length: 200 }, (_, at) => addressNamed(`wallet ${at}`))
  for (let slot = 100; slot < 104; slot++) {
    ledger.beginBlock(slot)
    for (const each of wallets) ledger.add({ payer: other, instructions: [transferSol(other, each, 5n)] })
  }
  const { service, node } = await serve(ledger)
  const react = createValidator(ledger)
  let nulls = 0
  node.react = call => {
    if (call.method !== 'getTransaction' || random.below(20) > 0) return react(call)
    nulls++
    return { body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result: null }) }
  }
  const answers = await Promise.all(wallets.map(each => askHistory(service, each)))
  expect(answers.map(({ transactions }) => transactions.length)).toEqual(wallets.map(() => 4))
  expect(nulls).toBeGreaterThan(10)
})

it('what comes while the newest page is given again is there afterwards, each once', async () => {
  const ledger = playPayments(1_000_000n)
  const { service } = await serve(ledger, { finalizedSlot: 250 })
  readLater()
  const first = await askHistory(service, wallet, { limit: 10 })
  expect(first.transactions.map(each => [each.slot, each.confirmationStatus])).toEqual([
    ...[
      [300, 'confirmed'],
      [200, 'finalized'],
      [100, 'finalized']
    ]
  ])
  ledger.add({ payer: wallet, instructions: [memo('newer')] })
  ledger.beginBlock(401)
  expect(await askHistory(service, wallet, { limit: 10 })).toEqual(first)
  readLater()
  const later = await askHistory(service, wallet, { limit: 10 })
  expect(later.transactions.map(({ slot }) => slot)).toEqual([400, 300, 200, 100])
  expect(later.covers).toMatchObject({ toSlot: 401, continuity: true })
})

it('a whole history above history.maxUnpaged is refused, of a certificate too, and pages are not', async () => {
  const { service } = await serve(playPayments(1_000_000n), {}, { history: { maxUnpaged: 2 } })
  const refusal = /"reason":"TOO_MANY_RESULTS".*more than 2 records/
  await expect(askHistory(service, wallet)).rejects.toThrow(refusal)
  await expect(askCertificate(service, wallet)).rejects.toThrow(refusal)
  expect((await askHistory(service, wallet, { limit: 3 })).transactions).toHaveLength(3)
})

it('a history that fails because of its node has the state of the cluster checked at once', async () => {
  const ledger = playPayments(1_000_000n)
  // The check of every 10 seconds does not come.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { service, node } = await serve(ledger, {}, { limits: { requestDeadlineMs: 2_000 } })
  const phase = async () => JSON.parse(await service.call('svc_getSyncStatus', [])).result.phase
  await eventually('it follows', async () => (await phase()) === 'following')
  node.react = () => 'reset'
  await expect(askHistory(service, wallet)).rejects.toThrow(/"reason":"UPSTREAM_UNAVAILABLE"/)
  await eventually('it is stalled', async () => (await phase()) === 'stalled', 5_000)
})

it('a node that falls behind the balances is waited for, and leaves nothing out', async () => {
  const ledger = playPayments(1_000_000n)
  const { service, node } = await serve(ledger)
  const react = createValidator(ledger)
  let slot = 150
  node.react = call => {
    const reaction = react(call) as { body: string }
    const { result } = JSON.parse(reaction.body) as { result: never }
    const answer = (late: unknown) => ({
      body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result: late })
    })
    if (call.method === 'getSignaturesForAddress') {
      return answer((result as { slot: number }[]).filter(each => each.slot <= slot))
    }
    // Each time that it is asked it has come further.
    if (call.method !== 'getSlot') return reaction
    slot += 100
    return answer(slot)
  }
  const { transactions, covers } = await askHistory(service, wallet)
  expect(transactions.map(each => each.slot)).toEqual([300, 200, 100])
  expect(covers.continuity).toBe(true)
})

import type { HistoryCertificate, TransactionRecord } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../../.config/patience.ts'
import { createRandom } from '../../../../devnet/src/platform/createRandom.ts'
import { requireSums } from '../../certificate/requireSums.ts'
import { isFull, report, seed } from '../../chaos/chaosSizes.ts'
import { engines } from '../../support/testStores.ts'
import { type DeepService, startDeepService } from '../startDeepService.ts'
import { keyedKinds, type StateWorld } from './buildStateWorld.ts'
import { openStateWorld } from './openStateWorld.ts'
import { type RecordedNode, startRecordedNode } from './startRecordedNode.ts'

const deletions = isFull ? 200 : 16
const nobody = `0x${'0b'.repeat(20)}`

let world: StateWorld
let node: RecordedNode
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  world = await openStateWorld(2_000)
  node = await startRecordedNode(world.chain)
  ends.push(node.close)
})
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function serve(chain: object): Promise<DeepService> {
  const store = await engines[0].create()
  ends.push(store.remove)
  const service = await startDeepService({
    ...{ nodeUrl: node.url, store: store.url, chain: { verify: 'basic', traces: 'on', ...chain } },
    // So small that an account leaves when another one is asked for.
    history: { deepCacheBytes: 1 }
  })
  ends.push(service.close)
  return service
}

const isKeyed = (kind: string) => keyedKinds.some(keyed => keyed === kind)

/** Whether a transaction shows in the account's nonce or balance. */
function shows(record: TransactionRecord, account: string): boolean {
  const { from, value, internal = [] } = record as TransactionRecord & { internal?: { value: string }[] }
  return (
    from.toLowerCase() === account ||
    BigInt(value) + internal.reduce((sum, each) => sum + BigInt(each.value), 0n) > 0n
  )
}

/** The blocks in which a contract paid the account. */
const paidInside = (account: string): readonly number[] =>
  world.chain.blocks
    .filter(({ traces }) =>
      traces.some(({ action, traceAddress }) => traceAddress.length > 0 && action.to === account)
    )
    .map(({ number }) => number)

async function verify(service: DeepService, account: string): Promise<HistoryCertificate> {
  const { result, error } = await service.ask<HistoryCertificate>('svc_verifyHistory', [account])
  if (result === undefined) throw new Error(JSON.stringify(error))
  requireSums(result)
  return result
}

describe(`a certificate over history older than the index (SEED=${seed})`, () => {
  it.each([
    ['ots', { traceFilter: false }],
    ['trace_filter', { hasOts: false }]
  ] as const)(
    'finds every hint that a node left out of %s',
    async (way, traits) => {
      node.setTraits({})
      const full = await serve({})
      node.setTraits(traits)
      const deep = await serve({ startBlock: 'latest', deepHistory: 'node' })
      const random = createRandom(seed)
      const counts = { found: 0, byNonce: 0, byLogs: 0, noValue: 0 }
      const wrong: string[] = []
      const kinds = Object.entries(world.people)
      for (const [kind, account] of kinds) {
        const { verdict, native, sent, findings } = await verify(deep, account)
        expect(verdict, kind).not.toBe('failed')
        expect(findings.filter(finding => finding.kind === 'MISSING_TRANSACTION')).toEqual([])
        if (isKeyed(kind)) expect([kind, sent.verdict, native.verdict]).toEqual([kind, 'proven', 'proven'])
        // Four of its nonces were used by authorizations that others sent.
        if (kind === 'delegated') expect(sent).toMatchObject({ verdict: 'proven' })
      }
      const chances = (
        await Promise.all(
          kinds.map(async ([kind, account]) =>
            (
              await full.history(account, { limit: 1_000, include: ['internal'] })
            )
              .filter(record => 'blockNumber' in record && (record.blockNumber ?? 0) < deep.indexedFrom())
              .map(record => ({ kind, account, record }))
          )
        )
      ).flat() as [{ kind: string; account: string; record: TransactionRecord }]
      for (let left = deletions; left > 0; left--) {
        const { kind, account, record } = random.pick(chances)
        node.setTraits({ ...traits, leftOut: new Set([record.hash]) })
        await deep.history(nobody)
        const certificate = await verify(deep, account)
        const isListed = (await deep.history(account)).some(({ hash }) => hash === record.hash)
        const isFound =
          certificate.verdict === 'failed' &&
          certificate.findings.some(({ transactionHash }) => transactionHash === record.hash)
        if (isListed && record.from.toLowerCase() === account) counts.byNonce++
        else if (isListed) counts.byLogs++
        else if (isFound) counts.found++
        else if (!shows(record, account)) counts.noValue++
        else wrong.push(`${kind} ${account}: ${JSON.stringify({ record, certificate })}`)
      }
      expect(wrong).toEqual([])
      expect(counts.found + counts.byNonce).toBeGreaterThan(deletions / 2)
      expect(Math.min(counts.found, counts.byNonce)).toBeGreaterThan(0)
      report('deepHistory/recorded', { way, deletions, ...counts, unnoticed: wrong.length })
      // Two histories are read anew for each deletion.
    },
    patient(900_000)
  )

  it('explains what was found from state, and without traces names the blocks of what it cannot explain', async () => {
    node.setTraits({ hasOts: false, traceFilter: false })
    const chain = { startBlock: 'latest', deepHistory: 'node', traces: 'off' }
    const deep = await serve(chain)
    for (const kind of keyedKinds) {
      const { native, sent, covers, findings, index, complete } = await verify(deep, world.people[kind] ?? '')
      expect({ kind, from: covers.from, sent: sent.verdict }).toEqual({ kind, from: 0, sent: 'proven' })
      // Nobody can know of receipts of no value: so the whole is never called proven.
      expect({ kind, complete, index: index.verdict }).toEqual({
        ...{ kind, complete: 'unprovable', index: 'unprovable' }
      })
      expect(covers).toMatchObject({ indexedFrom: deep.indexedFrom(), lacks: ['zero-value-receipts'] })
      expect(findings.map(finding => finding.kind)).toContain('HISTORY_LACKS')
      const paying = paidInside(world.people[kind] ?? '')
      expect([kind, native.verdict]).toEqual([kind, paying.length > 0 ? 'unprovable' : 'proven'])
      // Of one token no balance can be read, which has no block.
      const named = findings
        .filter(({ blockNumber }) => blockNumber !== undefined)
        .map(finding => [finding.kind, finding.blockNumber])
      expect(named.length > 0).toBe(paying.length > 0)
      expect(paying.map(block => ['NOT_TRACED', block])).toEqual(expect.arrayContaining(named))
    }
  })
})

import { expect, it } from 'vitest'
import { arrival } from '../../../test/http/runGuard.ts'
import type { AnswerCoverage } from '../../model/coverage.ts'
import { answerBody } from './answers.ts'

/** The header of the answer to a batch whose methods report this coverage. */
async function headerOf(told: readonly AnswerCoverage[]): Promise<string | undefined> {
  const answer = answerBody(
    async ({ value }) => ({ body: '{}', coverage: value as AnswerCoverage }),
    { countRefusal() {} },
    () => undefined
  )
  const requests = told.map(value => ({ value, idText: '1', chainId: 1, repeated: undefined }))
  const { headers } = await answer({
    ...arrival(),
    endpoint: '/evm-chain',
    urlChainId: undefined,
    caller: { projectId: 'caller', kind: 'server' },
    body: { isBatch: true, requests },
    quota: { allowed: told.length, retryAfterMs: 0, msPerCall: 0, scope: 'project' }
  })
  return headers['x-chain-data-coverage']
}

it('says what is known of a chain, and leaves out what is not', async () => {
  expect(
    await headerOf([
      { chainId: 31337, from: 0, to: 128, transfersFrom: 0, internalFrom: 7, deepHistory: 'none' },
      { chainId: 1, from: 5, to: 5, deepHistory: 'node' },
      { chainId: 10 }
    ])
  ).toBe('1;from=5;to=5;deep=node, 10, 31337;from=0;to=128;transfers=0;internal=7;deep=none')
})

it('says what is lacking of history older than the index, and why', async () => {
  expect(
    await headerOf([
      { chainId: 1, from: 90, to: 99, deepHistory: 'state', lacks: 'zero-value-receipts' },
      { chainId: 2, from: 90, to: 99, deepHistory: 'none', reason: 'contract' },
      { chainId: 3, from: 90, to: 99, deepHistory: 'node' },
      { chainId: 3, from: 90, to: 99, deepHistory: 'state', deepFrom: 40, reason: 'delegated' },
      { chainId: 3, from: 90, to: 99, deepHistory: 'state', deepFrom: 20, lacks: 'zero-value-receipts' }
    ])
  ).toBe(
    [
      '1;from=90;to=99;deep=state;lacks=zero-value-receipts',
      '2;from=90;to=99;deep=none;reason=contract',
      '3;from=90;to=99;deep-from=40;deep=state;lacks=zero-value-receipts;reason=delegated'
    ].join(', ')
  )
})

it('names the blocks with a part unknown, in one state of an index or another', async () => {
  const [one, other, third] = [
    { from: 7, to: 7 },
    { from: 20, to: 22 },
    { from: 8, to: 9 }
  ]
  expect(
    await headerOf([
      { chainId: 1, from: 0, to: 30, transfersFrom: 23, unknownBlocks: [one, other] },
      { chainId: 2, from: 0, to: 30, unknownBlocks: [one] },
      { chainId: 2, from: 0, to: 30, unknownBlocks: [third, other] },
      { chainId: 2, from: 0, to: 30 }
    ])
  ).toBe('1;from=0;to=30;transfers=23;unknown="7 20-22", 2;from=0;to=30;unknown="7-9 20-22"')
})

it('is no header where nothing was told', async () => {
  expect(await headerOf([])).toBeUndefined()
})

it.each([10 ** 15, -1, 1.5, Number.NaN])(
  'leaves out a chain with %s, which such a header cannot hold',
  async number => {
    expect(await headerOf([{ chainId: number }])).toBeUndefined()
    expect(await headerOf([{ chainId: 1, from: 0, to: number }, { chainId: 2 }])).toBe('2')
    expect(await headerOf([{ chainId: 10 ** 15 - 1 }])).toBe('999999999999999')
  }
)

const whole: AnswerCoverage = { chainId: 1, from: 0, to: 9, transfersFrom: 0, internalFrom: 3 }

it('names each chain once, in the order of their ids', async () => {
  const other = { chainId: 10, from: 1, to: 2 }
  expect(await headerOf([other, whole, other, whole])).toBe(
    '1;from=0;to=9;transfers=0;internal=3, 10;from=1;to=2'
  )
})

it.each<[string, Partial<AnswerCoverage>, Partial<AnswerCoverage>]>([
  ['a head that moved', { to: 12 }, {}],
  ['a head that was rolled back', { to: 4 }, { to: 4 }],
  ['an index that begins later', { from: 2, deepHistory: 'node' }, { from: 2, deepHistory: 'node' }],
  ['transfers that are known later', { transfersFrom: 4 }, { transfersFrom: 4 }],
  ['traces that are known earlier', { internalFrom: 0 }, {}],
  ['nobody below', { deepHistory: 'none' }, { deepHistory: 'none' }]
])('says no more than both do: %s', async (_what, change, expected) => {
  const changed = { ...whole, ...change }
  const header = await headerOf([{ ...whole, ...expected }])
  expect([await headerOf([whole, changed]), await headerOf([changed, whole])]).toEqual([header, header])
})

it('knows nothing that one of them does not know', async () => {
  expect(await headerOf([whole, { chainId: 1 }])).toBe('1')
  expect(await headerOf([whole, { chainId: 1, from: 20, to: 30 }])).toBe('1')
})

import type { AccountEvent, AccountEvents, Address, IndexCoverage, TokenTransfer } from '@chain-data/index'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AccountAt, AccountState } from './accountState.ts'
import { issueCertificate, readIndexedAccount } from './issueCertificate.ts'
import {
  hashOf,
  type ModelBlock,
  type ModelChain,
  type Removed,
  runModel,
  snapshotOf,
  token,
  zero
} from './test/modelChain.ts'

const account: Address = `0x${'a1'.repeat(20)}`
const other: Address = `0x${'b2'.repeat(20)}`
const people: readonly Address[] = [account, other, `0x${'c3'.repeat(20)}`]

const someone = fc.constantFrom(...people)
const amount = fc.bigInt({ min: 0n, max: 9n })
const something = fc.bigInt({ min: 1n, max: 9n })

const tokenTransfer: fc.Arbitrary<TokenTransfer> = fc.oneof(
  fc.record({
    standard: fc.constant('erc20' as const),
    contract: fc.constant(token),
    ...{ from: fc.oneof(someone, fc.constant(zero)), to: someone, amount: something }
  }),
  fc.record({
    standard: fc.constant('erc1155' as const),
    contract: fc.constant<Address>(`0x${'71'.repeat(20)}`),
    ...{ from: someone, to: someone, amount: something, tokenId: amount }
  }),
  fc.record({
    standard: fc.constant('erc721' as const),
    contract: fc.constant<Address>(`0x${'72'.repeat(20)}`),
    ...{ from: someone, to: someone, tokenId: amount }
  })
)

const transaction = fc
  .record({
    ...{ from: someone, to: fc.option(someone, { nil: undefined }), value: amount, fee: amount },
    hasFailed: fc.boolean(),
    transfers: fc.array(tokenTransfer, { maxLength: 3 }),
    internal: fc.array(
      fc.record({ kind: fc.constant('call' as const), from: someone, to: someone, value: something }),
      { maxLength: 2 }
    )
  })
  .map(({ to, ...rest }) => ({ ...rest, ...(to !== undefined && { to }) }))

const event: fc.Arbitrary<AccountEvent> = fc.record({
  kind: fc.constantFrom(
    'withdrawal' as const,
    'tip' as const,
    'reward' as const,
    'mint' as const,
    'burn' as const
  ),
  amount: something
})
const events: fc.Arbitrary<AccountEvents> = fc.record({
  address: someone,
  events: fc.array(event, { minLength: 1, maxLength: 3 })
})
const chain = fc
  .array(
    fc.record({
      transactions: fc.array(transaction, { maxLength: 3 }),
      events: fc.array(events, { maxLength: 1 })
    }),
    { minLength: 1, maxLength: 12 }
  )
  .map(runModel)

interface CertifyOptions {
  readonly removed?: Removed
  readonly coverage?: IndexCoverage
  readonly code?: AccountAt['code']
  /** The node has the state of the genesis block and of the head only. */
  readonly isPruned?: boolean
}

/** With all the time in the world. */
async function certify(model: ModelChain, options: CertifyOptions = {}) {
  const head = model.blocks.at(-1)
  if (head === undefined) throw new Error('a model has blocks')
  const snapshot = snapshotOf(model, account, options)
  const range = { from: 0, to: head.ref, toTimestampSeconds: 0 }
  const signal = new AbortController().signal
  const indexed = await readIndexedAccount(snapshot, account, range, { signal, onBlock() {} })
  const whole = model.stateOf(account, options.code ?? 'none')
  const isKept = (height: number) => !options.isPruned || height === 0 || height === head.ref.number
  const state: AccountState = {
    ...whole,
    async accounts(heights) {
      const found = await whole.accounts(heights)
      return found.map((at, place) => (isKept(heights[place] ?? 0) ? at : undefined))
    },
    async balanceAt(name, heights) {
      const found = await whole.balanceAt(name, heights)
      return found.map((at, place) => (isKept(heights[place] ?? 0) ? at : { kind: 'unknown' }))
    }
  }
  const forever = Number.POSITIVE_INFINITY
  return issueCertificate(
    {
      openSnapshot: async () => snapshot,
      indexed,
      state,
      followUntilMs: forever,
      untilMs: forever,
      now: Date.now
    },
    { parts: [] }
  )
}

/** Entries of the account, each of which can be taken out of the index. */
function entriesOf({ blocks }: ModelChain) {
  const transactions = blocks
    .flatMap(block => block.transactions)
    .filter(({ parties }) => parties.includes(account))
  const eventBlocks = blocks
    .filter(block => block.events?.some(({ address }) => address === account))
    .map(({ ref }) => ref.number)
  return { transactions, eventBlocks }
}

describe('certificates of random ledgers', () => {
  test('of a whole index, everything is proven and nothing found', () =>
    fc.assert(
      fc.asyncProperty(chain, async model => {
        const certificate = await certify(model)
        expect(certificate.findings).toEqual([])
        expect(certificate.verdict).toBe('proven')
        expect(certificate.tokens.every(({ verdict }) => verdict === 'proven')).toBe(true)
      })
    ))

  test('an index without one transaction that changed a nonce or a balance fails, and the transaction is named', () =>
    fc.assert(
      fc.asyncProperty(chain, fc.nat(), async (model, place) => {
        const effective = entriesOf(model).transactions.filter(indexed => changesAnything(indexed))
        const lost = effective[place % Math.max(1, effective.length)]
        if (lost === undefined) return
        const certificate = await certify(model, { removed: { transactions: [lost.transaction] } })
        expect(certificate.verdict).toBe('failed')
        expect(certificate.findings).toContainEqual(
          expect.objectContaining({ kind: 'MISSING_TRANSACTION', transactionHash: lost.transaction.hash })
        )
        const others = certificate.findings.filter(
          ({ transactionHash }) => transactionHash !== lost.transaction.hash
        )
        expect(others).toEqual([])
      }),
      { numRuns: 150 }
    ))

  test('an index without the events of a block fails where they changed the balance, and the block is named', () =>
    fc.assert(
      fc.asyncProperty(chain, fc.nat(), async (model, place) => {
        const { eventBlocks } = entriesOf(model)
        const lost = eventBlocks[place % Math.max(1, eventBlocks.length)]
        if (lost === undefined || netOfEvents(model, lost) === 0n) return
        const certificate = await certify(model, { removed: { eventsOf: [lost] } })
        expect(certificate.verdict).toBe('failed')
        expect(certificate.findings).toContainEqual(
          expect.objectContaining({ kind: 'MISSING_EVENT', blockNumber: lost })
        )
      }),
      { numRuns: 150 }
    ))

  test('no index that lacks an effective entry is called proven, traced or not, whatever code the account has', () =>
    fc.assert(
      fc.asyncProperty(
        chain,
        fc.nat(),
        fc.boolean(),
        fc.constantFrom('none' as const, 'delegation' as const),
        async (model, place, isTraced, code) => {
          const effective = entriesOf(model).transactions.filter(indexed => changesAnything(indexed))
          const lost = effective[place % Math.max(1, effective.length)]
          if (lost === undefined || (code === 'none' && paysInside(model))) return
          const coverage = isTraced ? { tracedFrom: 0 } : {}
          const certificate = await certify(model, {
            removed: { transactions: [lost.transaction] },
            coverage,
            code
          })
          expect(certificate.verdict).not.toBe('proven')
        }
      ),
      { numRuns: 150 }
    ))
})

function changesAnything({
  transaction,
  transfers = [],
  internal = []
}: ReturnType<typeof entriesOf>['transactions'][number]): boolean {
  if (transaction.from === account) return true
  const received =
    transaction.status === 3 && (transaction.to ?? transaction.contractAddress) === account
      ? transaction.value
      : 0n
  const inside = internal.reduce(
    (sum, { from, to, value }) => sum + (to === account ? value : 0n) - (from === account ? value : 0n),
    0n
  )
  if (received + inside !== 0n) return true
  const nets = new Map<string, bigint>()
  for (const { contract, tokenId = 0n, standard, from, to, amount: moved = 1n } of transfers) {
    const key = standard === 'erc1155' ? `${contract} ${tokenId}` : contract
    const net = (to === account ? moved : 0n) - (from === account ? moved : 0n)
    nets.set(key, (nets.get(key) ?? 0n) + net)
  }
  return [...nets.values()].some(net => net !== 0n)
}

/** What no account without code can do. */
function paysInside({ blocks }: ModelChain): boolean {
  return blocks.some(
    ({ transactions, events = [] }) =>
      transactions.some(({ internal = [] }) => internal.some(({ from }) => from === account)) ||
      events.some(entry => entry.address === account && entry.events.some(({ kind }) => kind === 'burn'))
  )
}

function netOfEvents({ blocks }: ModelChain, height: number): bigint {
  const found = blocks[height]?.events?.filter(({ address }) => address === account) ?? []
  return found
    .flatMap(entry => entry.events)
    .reduce((sum, one) => sum + ('amount' in one ? (one.kind === 'burn' ? -one.amount : one.amount) : 0n), 0n)
}

/** The same state, but for the nonce at the head. */
function withNonce(model: ModelChain, nonce: bigint): ModelChain['stateOf'] {
  return (...asked) => {
    const state = model.stateOf(...asked)
    return { ...state, now: { ...state.now, nonce } }
  }
}

/** A chain of plain payments. */
function payments(
  plans: readonly Partial<ModelBlock['transactions'][number]>[],
  eventsAt: ReadonlyMap<number, readonly AccountEvents[]> = new Map()
) {
  return runModel(
    plans.map((plan, place) => ({
      transactions: [
        {
          from: other,
          to: account,
          value: 5n,
          fee: 1n,
          hasFailed: false,
          transfers: [],
          internal: [],
          ...plan
        }
      ],
      events: eventsAt.get(place + 1) ?? []
    }))
  )
}

const untraced = {}

describe('without traces', () => {
  test('an account that sends for itself and runs no code is proven by its balance', async () => {
    const certificate = await certify(payments([{}, { from: account, to: other }]), { coverage: untraced })
    expect(certificate).toMatchObject({ verdict: 'proven', findings: [] })
  })

  test('one that has never sent may have been a contract: what fits proves nothing', async () => {
    const certificate = await certify(payments([{}, {}]), { coverage: untraced })
    expect(certificate).toMatchObject({ verdict: 'unprovable', native: { verdict: 'unprovable' } })
    expect(certificate.findings).toEqual([expect.objectContaining({ kind: 'NOT_TRACED' })])
  })

  test('one that runs delegated code may have passed something on', async () => {
    const model = payments([{}, { from: account, to: other }])
    expect(await certify(model, { coverage: untraced, code: 'delegation' })).toMatchObject({
      verdict: 'unprovable',
      sent: { verdict: 'proven' }
    })
  })

  test('what a contract paid is found, not called missing', async () => {
    const inside = { kind: 'call' as const, from: other, to: account, value: 3n }
    const model = payments([{}, { from: account, to: other, internal: [inside] }])
    const certificate = await certify(model, { coverage: untraced })
    expect(certificate.native).toMatchObject({ verdict: 'unprovable' })
    expect(certificate.findings).toContainEqual(
      expect.objectContaining({ kind: 'NOT_TRACED', blockNumber: 2 })
    )
  })
})

describe('a block with a part unknown', () => {
  const coverage: IndexCoverage = { tracedFrom: 0, unknown: [{ from: 2, to: 2 }] }

  /** The same chain, whose index has the receipts of block 2 as unknown. */
  function withoutReceipts({ blocks, ...model }: ModelChain): ModelChain {
    const changed = blocks.map(block => {
      if (block.ref.number !== 2) return block
      const transactions = block.transactions.map(({ transaction, parties }) => {
        const { status: _, gasPrice: __, gasSpent: ___, feeWei: ____, ...own } = transaction
        return { transaction: own, parties, candidates: [] }
      })
      return { ...block, transactions, unknown: 'receipts' as const }
    })
    return { ...model, blocks: changed }
  }

  test('leaves nothing proven, names the block, and calls nothing missing that may be in it', async () => {
    const moved = { standard: 'erc20' as const, contract: token, from: account, to: other, amount: 3n }
    const model = payments([
      { from: other, to: account, value: 9n, transfers: [{ ...moved, from: other, to: account }] },
      { from: account, to: other, value: 5n, fee: 2n, transfers: [moved] },
      { from: account, to: other, value: 1n, fee: 1n }
    ])
    const certificate = await certify(withoutReceipts(model), { coverage })
    expect(certificate).toMatchObject({
      ...{ verdict: 'unprovable', complete: 'unprovable' },
      sent: { verdict: 'proven' },
      native: { verdict: 'unprovable' },
      tokens: [{ verdict: 'unprovable' }]
    })
    expect(certificate.findings).toContainEqual(
      expect.objectContaining({ kind: 'HISTORY_LACKS', blockNumber: 2 })
    )
  })

  test('leaves an account unproven whose sums fit', async () => {
    const certificate = await certify(payments([{ from: account, to: other }, {}]), { coverage })
    expect(certificate).toMatchObject({ verdict: 'unprovable', native: { verdict: 'proven' } })
  })
})

describe('nonces', () => {
  const authorizations = (height: number, nonce: bigint) =>
    new Map([[height, [{ address: account, events: [{ kind: 'authorization' as const, nonce }] }]]])

  test('an authorization fills the gap that it made', async () => {
    const model = payments(
      [{ from: account, to: other }, {}, { from: account, to: other }],
      authorizations(2, 1n)
    )
    expect((await certify(model, { code: 'delegation' })).sent).toMatchObject({
      verdict: 'proven',
      authorizations: 1,
      count: 3n
    })
  })

  test('the transaction that carried it has to be in the history', async () => {
    const model = payments([{ from: account, to: other }, {}], authorizations(2, 1n))
    const carrier = { blockNumber: 2, index: 1 }
    const lost = await certify(model, { code: 'delegation', removed: { transactions: [carrier] } })
    expect(lost.sent.verdict).toBe('failed')
    const transactionHash = hashOf('transaction 2 1')
    const finding = expect.objectContaining({ kind: 'MISSING_TRANSACTION', transactionHash })
    expect(lost.findings).toContainEqual(finding)
  })

  test('one that strangers send again a thousand times does not crowd out the next', async () => {
    const again = Array.from({ length: 1_100 }, (_, place) => [...authorizations(place + 1, 0n)]).flat()
    const model = payments(
      Array.from({ length: 1_101 }, () => ({})),
      new Map([...again, ...authorizations(1_101, 1n)])
    )
    const { sent, findings } = await certify(model, { code: 'delegation' })
    expect(sent).toMatchObject({ verdict: 'proven', authorizations: 2, count: 2n })
    expect(findings).toEqual([])
  })

  test('one that was not valid fills none: the transaction with its nonce is missed', async () => {
    const model = payments(
      [{ from: account, to: other }, { from: account, to: other }, {}],
      authorizations(3, 1n)
    )
    const certificate = await certify(model, { removed: { transactions: [{ blockNumber: 2, index: 0 }] } })
    expect(certificate.sent.verdict).toBe('failed')
    expect(certificate.findings).toContainEqual(
      expect.objectContaining({
        kind: 'MISSING_TRANSACTION',
        transactionHash: hashOf('transaction 2 0'),
        nonce: 1n
      })
    )
  })

  test('a contract that is no more has no nonce, and one that began anew has fewer than it used', async () => {
    const creation = new Map([[2, [{ address: account, events: [{ kind: 'creation' as const, count: 3 }] }]]])
    const model = payments([{}, {}, {}], creation)
    const begunAnew = { ...model, stateOf: withNonce(model, 1n) }
    expect((await certify(begunAnew, { code: 'contract' })).sent.verdict).toBe('unprovable')
    const gone = { ...model, stateOf: withNonce(model, 0n) }
    expect((await certify(gone)).sent.verdict).toBe('proven')
  })

  test('contracts that delegated code creates use nonces of the account', async () => {
    const creation = new Map([[2, [{ address: account, events: [{ kind: 'creation' as const, count: 2 }] }]]])
    const model = payments([{ from: account, to: other }, {}, { from: account, to: other }], creation)
    expect((await certify(model, { code: 'delegation' })).sent).toMatchObject({
      verdict: 'proven',
      creations: 2n,
      count: 4n
    })
    const lost = await certify(model, { code: 'delegation', removed: { eventsOf: [2] } })
    expect(lost.sent.verdict).toBe('failed')
    expect(lost.findings).toContainEqual(expect.objectContaining({ kind: 'MISSING_EVENT', blockNumber: 2 }))
    const unknown = await certify(model, { code: 'delegation', coverage: untraced })
    expect(unknown.sent.verdict).toBe('unprovable')
  })
})

test('an event that says more than the chain is named as wrong', async () => {
  const tip = (amount: bigint) => [{ address: account, events: [{ kind: 'tip' as const, amount }] }]
  const model = payments([{}, {}], new Map([[2, tip(3n)]]))
  const wrong = payments([{}, {}], new Map([[2, tip(5n)]]))
  const certificate = await certify({ ...wrong, stateOf: model.stateOf })
  expect(certificate).toMatchObject({ verdict: 'failed', native: { verdict: 'failed' } })
  expect(certificate.findings).toEqual([expect.objectContaining({ kind: 'WRONG_RECORD', blockNumber: 2 })])
})

test('in a history of more changes than are kept one by one, the lost transaction is found all the same', async () => {
  const model = payments(Array.from({ length: 10_000 }, () => ({})))
  const removed = { transactions: [{ blockNumber: 7_531, index: 0 }] }
  const certificate = await certify(model, { removed })
  expect(certificate.findings).toEqual([
    expect.objectContaining({ kind: 'MISSING_TRANSACTION', blockNumber: 7_531 })
  ])
})

test('each of several lost transactions is found', async () => {
  const model = payments([{}, { value: 3n }, {}, {}, { from: account, to: other }, {}])
  const lost = [2, 4, 6].map(blockNumber => ({ blockNumber, index: 0 }))
  const { findings } = await certify(model, { removed: { transactions: lost } })
  expect(findings.map(({ blockNumber }) => blockNumber)).toEqual([2, 4, 6])
})

describe('without the state of older blocks', () => {
  test('a nonce that nothing has used is named, and fails where nothing but a transaction can have used it', async () => {
    const model = payments([{ from: account, to: other }, { from: account, to: other }, {}])
    const lossy = { removed: { transactions: [{ blockNumber: 1, index: 0 }] }, isPruned: true }
    const certificate = await certify(model, lossy)
    expect(certificate.sent.verdict).toBe('failed')
    expect(certificate.findings).toContainEqual(expect.objectContaining({ kind: 'MISSING_NONCE', nonce: 0n }))
    expect(certificate.findings).toContainEqual(expect.objectContaining({ kind: 'STATE_UNAVAILABLE' }))
    const unsure = await certify(model, { ...lossy, code: 'delegation', coverage: untraced })
    expect(unsure.sent.verdict).toBe('unprovable')
  })

  test('a balance that differs from all that is known fails where everything should be known', async () => {
    const lossy = { removed: { transactions: [{ blockNumber: 2, index: 0 }] }, isPruned: true }
    const model = payments([{}, {}, {}])
    expect((await certify(model, lossy)).native.verdict).toBe('failed')
    expect((await certify(model, { ...lossy, coverage: untraced })).native.verdict).toBe('unprovable')
  })

  test('what fits is proven all the same', async () => {
    const certificate = await certify(payments([{}, { from: account, to: other }]), { isPruned: true })
    expect(certificate).toMatchObject({ verdict: 'proven', findings: [] })
  })
})

import type { Address, IndexedBlock, Snapshot } from '@chain-data/index'
import { describe, expect, test } from 'vitest'
import { rootParts } from '../../../model/rootParts.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { issueCertificate, readIndexedAccount } from './issueCertificate.ts'
import { hashOf, runModel, snapshotOf } from './test/modelChain.ts'

const account: Address = `0x${'a1'.repeat(20)}`
const other: Address = `0x${'b2'.repeat(20)}`

const payment = {
  ...{ from: other, to: account, value: 1n, fee: 1n, hasFailed: false },
  ...{ transfers: [], internal: [] }
}
/** In each block the account is paid; in every second one it withdraws, too. */
const model = runModel(
  Array.from({ length: 100 }, (_, place) => ({
    transactions: [payment],
    events:
      place % 2 === 0 ? [{ address: account, events: [{ kind: 'withdrawal' as const, amount: 3n }] }] : []
  }))
)
const head = model.blocks.at(-1)
if (head === undefined) throw new Error('the model has no blocks')

type ReadBlock = (block: IndexedBlock) => IndexedBlock | Promise<IndexedBlock>

/** Holds the account's blocks against those that `read` makes of the chain's. */
async function certify(
  read: ReadBlock,
  {
    parts = rootParts,
    stored = {},
    hashAt,
    minutes = 1
  }: {
    readonly parts?: typeof rootParts | readonly []
    readonly stored?: Partial<Snapshot>
    readonly hashAt?: (height: number) => `0x${string}`
    /** Until the call's time is over; each block takes one. */
    readonly minutes?: number
  } = {}
) {
  const snapshot = { ...snapshotOf(model, account), ...stored }
  const range = { from: 0, to: head!.ref, toTimestampSeconds: 0 }
  const signal = new AbortController().signal
  const indexed = await readIndexedAccount(snapshot, account, range, { signal, onBlock() {} })
  const state = model.stateOf(account, 'none')
  const asked: number[] = []
  const certificate = await issueCertificate(
    {
      ...{
        indexed,
        state: hashAt === undefined ? state : { ...state, hashAt: async height => hashAt(height) }
      },
      ...{ openSnapshot: async () => snapshot, followUntilMs: Number.POSITIVE_INFINITY },
      ...{ untilMs: minutes * 1_000, now: () => asked.length }
    },
    {
      parts,
      ...(parts.length === 0 && { unknownEncoding: 'its hash does not follow' }),
      blocks: {
        async block(height) {
          asked.push(height)
          return read(model.blocks[height] as IndexedBlock)
        }
      }
    }
  )
  return { ...certificate, asked }
}

const kindsOf = (findings: readonly { readonly kind: string }[]) => findings.map(({ kind }) => kind)
const at =
  (height: number, change: ReadBlock): ReadBlock =>
  block =>
    block.ref.number === height ? change(block) : block

describe('an index held against headers', () => {
  test('is unaltered where every block of the account agrees, each read once', async () => {
    const { verdict, complete, unaltered, findings, asked } = await certify(block => block)
    expect({ verdict, complete, findings }).toEqual({ verdict: 'proven', complete: 'proven', findings: [] })
    expect(unaltered).toMatchObject({ verdict: 'proven', blocks: 100, roots: 100, unknownParts: [] })
    expect([...asked].sort((a, b) => b - a)).toEqual(Array.from({ length: 100 }, (_, place) => 100 - place))
  })

  test.each<[string, ReadBlock, string]>([
    [
      'a record',
      block => ({
        ...block,
        transactions: block.transactions.map(each => ({
          ...each,
          transaction: { ...each.transaction, data: '0x01' }
        }))
      }),
      'WRONG_RECORD'
    ],
    ['a timestamp', block => ({ ...block, timestampSeconds: block.timestampSeconds + 1 }), 'WRONG_BLOCK'],
    ['a parent', block => ({ ...block, parentHash: hashOf('other') }), 'WRONG_BLOCK'],
    ['the number of transactions', block => ({ ...block, transactions: [] }), 'WRONG_BLOCK'],
    ['an event', block => ({ ...block, events: [] }), 'WRONG_RECORD']
  ])('fails for %s that differs, and is complete all the same', async (_what, change, kind) => {
    const { verdict, complete, unaltered, findings } = await certify(at(41, change))
    expect([verdict, complete, unaltered?.verdict]).toEqual(['failed', 'proven', 'failed'])
    expect(unaltered?.roots).toBe(99)
    expect(findings).toContainEqual(expect.objectContaining({ kind, blockNumber: 41 }))
  })

  test('fails for a hash that differs, if the node of the state has the other one', async () => {
    const change = at(41, block => ({ ...block, ref: { ...block.ref, hash: hashOf('other') } }))
    const hashAt = (height: number) => (height === 41 ? hashOf('other') : hashOf(`${height}`))
    const { unaltered, findings } = await certify(change, { hashAt })
    expect(unaltered?.verdict).toBe('failed')
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'WRONG_BLOCK', blockNumber: 41 }))
  })

  test('is not called altered by a node of another branch', async () => {
    const change = at(41, block => ({ ...block, ref: { ...block.ref, hash: hashOf('other') } }))
    const { verdict, complete, unaltered, findings } = await certify(change)
    expect([verdict, complete, unaltered?.verdict]).toEqual(['unprovable', 'proven', 'unprovable'])
    expect(unaltered?.roots).toBe(99)
    expect(kindsOf(findings)).toEqual(['ROOTS_NOT_CHECKED'])
  })

  test('says how far it came when the time is over', async () => {
    const { unaltered, findings } = await certify(block => block, { minutes: 0.05 })
    expect(unaltered).toMatchObject({ verdict: 'unprovable', blocks: 100, roots: 64 })
    expect(findings).toEqual([
      {
        kind: 'ROOTS_NOT_CHECKED',
        message:
          'Blocks were held against their headers from block 100 down to 37; 36 older blocks are left.',
        blockNumber: 37
      }
    ])
  })

  test('is not known where no node gives blocks that agree with their headers, and soon asks no more', async () => {
    const { unaltered, findings, asked } = await certify(() => {
      throw new NodeContradictionError('block 7: receiptsRoot is 0x1, but 0x2 follows')
    })
    expect(unaltered).toMatchObject({ verdict: 'unprovable', roots: 0 })
    expect(asked.length).toBe(32)
    expect(findings[0]?.message).toContain('receiptsRoot is 0x1')
    expect(findings.at(-1)?.message).toContain('68 older blocks are left')
  })

  test('is not known on a chain whose encoding is not', async () => {
    const { unaltered, findings, asked } = await certify(block => block, { parts: [] })
    expect(unaltered).toMatchObject({ verdict: 'unprovable', unknownParts: rootParts })
    expect([kindsOf(findings), asked]).toEqual([['ROOTS_UNKNOWN'], []])
    expect(findings[0]?.message).toMatch(/: its hash does not follow\.$/)
  })
})

import { evmAccount } from '@chain-data/devnet'
import { temporaryFolder } from '@chain-data/index/test'
import { Transaction } from 'ethers'
import { beforeAll, describe, expect, it } from 'vitest'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createRootChecks, type RootChecks } from '../../src/evm/blocks/roots/createRootChecks.ts'
import { rootParts } from '../../src/model/rootParts.ts'
import { NodeContradictionError } from '../../src/platform/errors.ts'
import type { Raw } from '../blocks/rawBlock.ts'
import { resealBlock } from '../blocks/resealBlock.ts'
import { allChecks, readWhole, verifyWhole, type WholeBlock } from '../blocks/verifyWhole.ts'
import { differences, runTestIndexer } from '../support/indexHarness.ts'
import { walkChain } from '../support/walkChain.ts'
import { useUpstreams } from './useUpstreams.ts'

const use = useUpstreams()
const rpc = (method: string, ...params: unknown[]) => use.driver().rpc(method, ...params)
const newest = () => readWhole(rpc, 'latest')
const quantity = (value: number) => `0x${value.toString(16)}`
/** What holds of anvil's blocks. With blobs, its transactions root is not Ethereum's. */
const anvilParts = rootParts.filter(part => part !== 'transactions')
const roots = { parts: anvilParts, blocks: 'all' } as const
let checks: RootChecks

/** Creation code that logs a word with its creator as topic, and keeps nothing. */
const logsOnce = '0x6001600052' + '3360206000a100'

beforeAll(async () => {
  checks = await allChecks()
})

/** Sends transactions of an unlocked account and mines them into one block. */
async function mine(...transactions: readonly Raw[]): Promise<WholeBlock> {
  const [from] = (await rpc('eth_accounts')) as string[]
  for (const transaction of transactions) {
    await rpc('eth_sendTransaction', { from, gas: '0x186a0', gasPrice: '0x12a05f200', ...transaction })
  }
  await rpc('evm_mine')
  return newest()
}

it('every block of the seeded world agrees with its header: all transaction types, creations and failures', async () => {
  const types = new Set<unknown>()
  const statuses = new Set<unknown>()
  for (let number = 0; number <= use.headNumber(); number++) {
    const whole = await readWhole(rpc, quantity(number))
    const ofBlock = whole.block.transactions.map(({ type }) => type)
    verifyWhole(whole, ofBlock.includes('0x3') ? await createRootChecks({ parts: anvilParts }) : checks)
    for (const type of ofBlock) types.add(type)
    for (const { status } of whole.receipts) statuses.add(status)
  }
  expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x3', '0x4'])
  expect(statuses).toEqual(new Set(['0x0', '0x1']))
})

it('an index over a node that alters values and a true one is the chain', async () => {
  const [liar, honest] = [await use.proxy(), await use.proxy()]
  liar.obey(async ({ method, params }, truth) => {
    if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined
    const block = (await truth()) as WholeBlock['block']
    const transactions = block.transactions.map(each => ({ ...each, value: '0x7' }))
    return { result: { ...block, transactions } }
  })
  const chain = await walkChain(use.driver().rpc)
  const folder = await temporaryFolder()
  use.later(folder.remove)
  const indexer = runTestIndexer(folder.path, {
    rpcUrls: [liar.url, honest.url],
    roots
  })
  use.later(() => indexer.stop())
  const { number } = (await newest()).block
  await indexer.until('all is indexed', ({ indexedTo }) => indexedTo?.number === Number(number), 20_000)
  expect(await differences(folder.path, chain)).toEqual([])
  expect(liar.asked('eth_getBlockByNumber').length).toBeGreaterThan(0)
})

it('an index over a node that alters logs stalls, and its status names the root', async () => {
  const liar = await use.proxy()
  liar.obey(async ({ method }, truth) => {
    if (method !== 'eth_getBlockReceipts') return undefined
    const receipts = (await truth()) as Raw[]
    return {
      result: receipts.map(each => ({
        ...each,
        logs: (each.logs as Raw[]).map(log => ({ ...log, data: `${String(log.data).slice(0, -1)}9` }))
      }))
    }
  })
  const folder = await temporaryFolder()
  use.later(folder.remove)
  const indexer = runTestIndexer(folder.path, { rpcUrls: [liar.url], roots })
  use.later(() => indexer.stop())
  await indexer.until(
    'it stalls',
    ({ phase, problem = '' }) => phase === 'stalled' && problem.includes('receiptsRoot is 0x'),
    20_000
  )
})

it('a block of more transactions than one byte of a key can number agrees with its header', async () => {
  const whole = await mine(...Array.from({ length: 140 }, () => ({ data: logsOnce })))
  expect(whole.receipts).toHaveLength(140)
  verifyWhole(whole, checks)
})

/** A block in which everything occurs, withdrawals included. */
async function fullBlock(): Promise<WholeBlock> {
  const { world } = use.driver()
  const { address: to } = evmAccount(world, 'alice')
  for (const type of [0, 1, 2, 3, 4] as const) {
    await use.driver().send({
      ...{ label: `of type ${type}`, type, from: 'dave', to, valueWei: 5n, data: '0x0102' },
      ...(type === 0 ? {} : { accessList: [{ address: to, storageKeys: [`0x${'07'.repeat(32)}`] }] }),
      ...(type === 4 ? { delegations: [{ account: 'erin', delegate: to }] } : {}),
      gasLimit: 200_000n
    })
  }
  const whole = await mine({ data: logsOnce }, { data: '0xfe' }, { data: logsOnce })
  const signed = await Promise.all(
    whole.block.transactions.map(({ hash }) => rpc('eth_getRawTransactionByHash', hash))
  )
  return resealBlock(whole, signed.map(withoutBlobs), [
    { index: '0x7', validatorIndex: '0x80', address: to.toLowerCase(), amount: '0x5f5e100' },
    { index: '0x8', validatorIndex: '0x0', address: `0x${'ee'.repeat(20)}`, amount: '0x1' },
    { index: '0x9', validatorIndex: '0x1', address: `0x${'dd'.repeat(20)}`, amount: '0x0' }
  ])
}

function withoutBlobs(signed: unknown): string {
  const transaction = Transaction.from(String(signed))
  if (transaction.type === 3) transaction.blobs = null
  return transaction.serialized
}

type Path = readonly (string | number)[]

/** The places of a JSON value that hold no list and no object. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

/** The lists of a JSON value that are not empty. */
function listsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Array.isArray(value) && value.length > 0 ? [path] : []
  return [...own, ...Object.entries(value).flatMap(([name, member]) => listsOf(member, [...path, name]))]
}

/** A copy in which the value at a path is another one. */
function altered(whole: WholeBlock, path: Path, change: (value: unknown) => unknown): WholeBlock {
  const copy = structuredClone(whole) as unknown as Record<string | number, unknown>
  let parent = copy
  for (const step of path.slice(0, -1)) parent = parent[step] as typeof parent
  const last = path.at(-1) ?? ''
  parent[last] = change(parent[last])
  return copy as unknown as WholeBlock
}

function otherValue(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string' || value === '') return `0x${'5a'.repeat(20)}`
  return value === '0x' ? '0x01' : value.replace(/.$/, digit => (digit === '1' ? '2' : '1'))
}

function rowsOf(whole: WholeBlock): string | undefined {
  try {
    return verifyWhole(whole, checks)
  } catch (error) {
    if (error instanceof NodeContradictionError) return undefined
    throw error
  }
}

describe('a block in which one thing is altered', () => {
  let whole: WholeBlock
  let truth: string | undefined
  /** Alterations that changed what is stored, and were not noticed. */
  const unnoticed = (changes: readonly (readonly [Path, (value: unknown) => unknown])[]) =>
    changes
      .filter(([path, change]) => {
        const rows = rowsOf(altered(whole, path, change))
        return rows !== undefined && rows !== truth
      })
      .map(([path]) => path.join('.'))

  beforeAll(async () => {
    whole = await fullBlock()
    truth = verifyWhole(whole, checks)
  })

  it('is refused, whichever value it is, or is stored as the truth; the price of blob gas is the exception', () => {
    const leaves = leavesOf(whole)
    expect(leaves.length).toBeGreaterThan(300)
    const found = unnoticed(leaves.map(path => [path, otherValue]))
    expect(found).toEqual([expect.stringMatching(/^receipts\.\d\.blobGasPrice$/)])
  })

  it('is refused or stored as the truth when a value is missing', () => {
    expect(unnoticed(leavesOf(whole).map(path => [path, () => undefined]))).toEqual([])
  })

  it('is refused or stored as the truth when an entry of a list is missing, comes twice or has changed its place', () => {
    const changes: readonly ((list: readonly unknown[]) => unknown)[] = [
      list => list.slice(1),
      list => list.slice(0, -1),
      list => [...list, list[0]],
      list => list.toReversed()
    ]
    const found = unnoticed(
      listsOf(whole).flatMap(path =>
        changes.map(change => [path, (list: unknown) => change(list as unknown[])] as const)
      )
    )
    expect(found).toEqual([])
  })

  it.each<readonly [name: string, path: Path, message: RegExp]>([
    [
      'the timestamp',
      ['block', 'timestamp'],
      /^block \d+: hash is 0x\w{64}, but the hash of its header is 0x\w{64}/
    ],
    [
      'a value',
      ['block', 'transactions', 1, 'value'],
      /transaction 1 has hash 0x\w{64}, but the hash of its fields is 0x/
    ],
    ['a sender', ['block', 'transactions', 2, 'from'], /is from 0x\w{40}, but was signed by 0x\w{40}/],
    [
      'a withdrawal',
      ['block', 'withdrawals', 0, 'amount'],
      /withdrawalsRoot is 0x\w{64}, but the root of its 3 withdrawals is/
    ],
    [
      'a log',
      ['receipts', 7, 'logs', 0, 'data'],
      /receiptsRoot is 0x\w{64}, but the root of its 8 receipts is 0x\w{64}/
    ]
  ])('is refused by name: %s', (_, path, message) => {
    const alone = path[2] === 2 ? { ...checks, receipts: () => undefined } : checks
    expect(() => verifyWhole(altered(whole, path, otherValue), alone)).toThrow(message)
  })

  it('names members of a header that it does not know', () => {
    const copy = { ...whole, block: { ...whole.block, timestamp: '0x1', laterRoot: '0x1' } }
    expect(() => verifyWhole(copy, checks)).toThrow(/not known as fields of a header: laterRoot/)
  })
})

it('near the head only, old blocks are taken as they are and new ones are not', async () => {
  await use.driver().rpc('anvil_mine', '0x50')
  const { source: basic, proxies, rpc: pool } = await use.pool(1)
  const source = createEvmSource({
    rpc: pool,
    finality: 'auto',
    roots: { parts: anvilParts, blocks: 'head' }
  })
  proxies[0]?.obey(async ({ method, params }, truth) => {
    if (method !== 'eth_getBlockByNumber' || params[1] !== true) return undefined
    return { result: { ...((await truth()) as Raw), timestamp: '0x5' } }
  })
  const { head } = await source.head()
  await expect(source.block(head.number)).rejects.toThrow(/hash of its header/)
  await expect(source.block(2)).resolves.toBeDefined()
  await expect(basic.block(head.number)).resolves.toBeDefined()
})

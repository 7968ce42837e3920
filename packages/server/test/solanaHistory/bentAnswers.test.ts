import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { newestForMs } from '../../src/features/solanaHistory/history/walletAccounts.ts'
import { type RpcCall, type ScriptedNode, startScriptedNode } from '../solana/startScriptedNode.ts'
import { type SolanaService, startSolanaService } from '../solana/startSolanaService.ts'
import { askCertificate, askHistory, type History } from './askHistory.ts'
import { createLedger } from './scripted/createLedger.ts'
import { createValidator } from './scripted/createValidator.ts'
import { memo, mintTokens, openAssociated, transferSol, transferTokens } from './scripted/instructions.ts'
import { addressNamed, MEMO, TOKEN } from './scripted/names.ts'
import type { Mint } from './scripted/State.ts'

const [wallet, other, authority] = ['wallet', 'other', 'authority'].map(addressNamed) as [
  string,
  string,
  string
]
const mint: Mint = { address: addressNamed('mint'), program: TOKEN, decimals: 6, feeBasisPoints: 0n }
const [own, theirs] = [addressNamed('own account'), addressNamed('their account')]

/** Lamports and tokens in both directions, memos, a failed transaction, and several transactions in one block. */
function playWallet() {
  const ledger = createLedger('bent', new Map([other, authority].map(each => [each, 10n ** 12n])))
  const plays: (() => Parameters<typeof ledger.add>[0])[] = [
    () => ({ payer: other, instructions: [transferSol(other, wallet, 10n ** 10n)] }),
    () => ({ payer: wallet, instructions: [openAssociated(wallet, own, mint, wallet)] }),
    () => ({ payer: other, instructions: [openAssociated(other, theirs, mint, other)] }),
    () => ({ payer: authority, instructions: [mintTokens(own, mint, authority, 1_000_000n)] }),
    () => ({ payer: wallet, instructions: [memo('first'), transferTokens(own, theirs, mint, wallet, 300n)] }),
    () => ({ payer: other, instructions: [transferTokens(theirs, own, mint, other, 100n)] }),
    () => ({ payer: wallet, instructions: [transferSol(wallet, other, 700n)], fails: true }),
    () => ({ payer: other, instructions: [transferSol(other, wallet, 900n), memo('thanks')] }),
    () => ({ payer: wallet, instructions: [transferSol(wallet, other, 800n), memo('done')] })
  ]
  for (const [at, play] of plays.entries()) {
    if (at % 3 !== 1) ledger.beginBlock(100 + at * 10)
    ledger.add(play())
  }
  ledger.beginBlock(400)
  return ledger
}

interface Answer {
  slot: number
  blockTime: number
  meta: {
    err: unknown
    fee: number
    preBalances: number[]
    postBalances: number[]
    preTokenBalances: { accountIndex: number; uiTokenAmount: { amount: string } }[]
    postTokenBalances: { accountIndex: number; uiTokenAmount: { amount: string } }[]
  }
  transaction: {
    signatures: string[]
    message: { accountKeys: string[]; instructions: { programIdIndex: number; data: string }[] }
  }
}

/** Bends a transaction; `undefined` where this one has nothing that could be bent so. */
type Bend = (answer: Answer, another: Answer) => Answer | undefined

const changed = (answer: Answer, change: (copy: Answer) => unknown): Answer | undefined => {
  const copy = structuredClone(answer)
  return change(copy) === false ? undefined : copy
}

const kinds: Readonly<Record<string, Bend>> = {
  'its error flipped': answer =>
    changed(answer, ({ meta }) => {
      meta.err = meta.err === null ? { InstructionError: [0, { Custom: 1 }] } : null
    }),
  'another slot': answer => ({ ...answer, slot: answer.slot + 1 }),
  'another block time': answer => ({ ...answer, blockTime: answer.blockTime - 60 }),
  'another memo': answer =>
    changed(answer, ({ transaction: { message } }) => {
      const at = message.accountKeys.indexOf(MEMO)
      const instruction = message.instructions.find(({ programIdIndex }) => programIdIndex === at)
      if (instruction === undefined) return false
      instruction.data = '2VfUX'
      return true
    }),
  'another fee': answer =>
    changed(answer, ({ meta }) => {
      meta.fee += 1
    }),
  'another balance before': answer =>
    changed(answer, ({ meta: { preBalances } }) => {
      preBalances[0]! -= 10
    }),
  'another balance after': answer =>
    changed(answer, ({ meta: { postBalances } }) => {
      postBalances[0]! += 10
    }),
  'two balances that add up to the same': answer =>
    changed(answer, ({ transaction: { message }, meta: { postBalances } }) => {
      const at = message.accountKeys.indexOf(wallet)
      if (at < 0) return false
      postBalances[at]! += 10
      postBalances[at === 0 ? 1 : 0]! -= 10
      return true
    }),
  'another balance of a token before': answer =>
    changed(answer, ({ meta, transaction: { message } }) => {
      const at = message.accountKeys.indexOf(own)
      const balance = meta.preTokenBalances.find(({ accountIndex }) => accountIndex === at)
      if (balance === undefined) return false
      balance.uiTokenAmount.amount = '7'
      return true
    }),
  'no balances of tokens': answer =>
    changed(answer, ({ meta }) => {
      // An account that is opened and stays empty moves no balance that could be missed.
      if (!meta.postTokenBalances.some(({ uiTokenAmount: { amount } }) => amount !== '0')) return false
      Object.assign(meta, { preTokenBalances: [], postTokenBalances: [] })
      return true
    }),
  'an account less': answer =>
    changed(answer, ({ meta, transaction: { message } }) => {
      const at = message.accountKeys.indexOf(message.accountKeys.includes(own) ? own : wallet)
      for (const list of [message.accountKeys, meta.preBalances, meta.postBalances]) list.splice(at, 1)
    }),
  'another account': answer =>
    changed(answer, ({ transaction: { message } }) => {
      const at = message.accountKeys.indexOf(message.accountKeys.includes(own) ? own : wallet)
      message.accountKeys[at] = theirs
    }),
  'the body of another transaction': ({ transaction: { signatures }, ...own }, { transaction, meta }) => ({
    ...own,
    meta,
    transaction: { ...transaction, signatures }
  })
}

const ledger = playWallet()
const react = createValidator(ledger)
const signatures = ledger.blocks.flatMap(({ transactions }) => transactions.map(each => each.signature))
const open: { close(): Promise<void> }[] = []
let sound: ScriptedNode
let expected: History

beforeAll(async () => {
  sound = await startScriptedNode(react)
  const service = await startSolanaService({ rpcUrls: [sound.url] })
  expected = await askHistory(service, wallet)
  expect(expected.covers.continuity).toBe(true)
  expect(expected.transactions.length).toBeGreaterThan(5)
  await service.close()
})

afterEach(async () => {
  vi.useRealTimers()
  for (const each of open.splice(0)) await each.close()
})
afterAll(() => sound.close())

function answerOf(signature: string): Answer {
  const call = {
    id: '1',
    method: 'getTransaction',
    params: [signature, { maxSupportedTransactionVersion: 0 }]
  }
  return (JSON.parse((react(call) as { body: string }).body) as { result: Answer }).result
}

/** A node that bends one transaction. @returns `undefined` where that has nothing to bend. */
async function bending(signature: string, bend: Bend): Promise<ScriptedNode | undefined> {
  const another = signatures[(signatures.indexOf(signature) + 3) % signatures.length]!
  const result = bend(answerOf(signature), answerOf(another))
  if (result === undefined) return undefined
  const node = await startScriptedNode((call: RpcCall) =>
    call.method === 'getTransaction' && call.params[0] === signature
      ? { body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result }) }
      : react(call)
  )
  open.push(node)
  return node
}

async function serve(...nodes: ScriptedNode[]): Promise<SolanaService> {
  const service = await startSolanaService({ rpcUrls: nodes.map(({ url }) => url) })
  open.push(service)
  return service
}

const right = () => ({ transactions: expected.transactions, isWhole: true, verdict: 'proven' })

async function read(service: SolanaService) {
  const { transactions, covers } = await askHistory(service, wallet)
  const { verdict } = await askCertificate(service, wallet)
  return { transactions, isWhole: covers.continuity, verdict }
}

/** Bends each transaction that can be bent so, and serves each bent history by a service of its own. */
async function serveBent(kind: string, ...others: ScriptedNode[]) {
  const served: { signature: string; node: ScriptedNode; service: SolanaService }[] = []
  for (const { signature } of expected.transactions) {
    const node = await bending(signature, kinds[kind]!)
    if (node !== undefined) served.push({ signature, node, service: await serve(node, ...others) })
  }
  expect(served.length).toBeGreaterThan(0)
  return served
}

/** A node whose lists say something else of every transaction. */
async function bendingLists(change: object): Promise<ScriptedNode> {
  const node = await startScriptedNode(call => {
    const reaction = react(call) as { body: string }
    if (call.method !== 'getSignaturesForAddress') return reaction
    const { result } = JSON.parse(reaction.body) as { result: object[] }
    const bent = result.map(listed => ({ ...listed, ...change }))
    return { body: JSON.stringify({ jsonrpc: '2.0', id: call.id, result: bent }) }
  })
  open.push(node)
  return node
}

it.each([{ err: 'AccountInUse' }, { blockTime: 7 }, { memo: '[3] odd' }])(
  'lists that say %o of each transaction are not believed, nor kept',
  async change => {
    const node = await bendingLists(change)
    const service = await serve(node)
    await expect(askHistory(service, wallet)).rejects.toThrow('"reason":"UPSTREAM_UNAVAILABLE"')
    node.react = react
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + newestForMs })
    expect(await read(service)).toEqual(right())
    vi.useRealTimers()
    expect(await read(await serve(await bendingLists(change), sound))).toEqual(right())
  }
)

it('lists whose memos are missing, or of another form, say nothing of memos', async () => {
  for (const memo of [null, '(unparseable)', '[13] (unparseable)', '[99] cut']) {
    expect(await read(await serve(await bendingLists({ memo })))).toEqual(right())
  }
})

const each = <T, R>(list: readonly T[], ask: (item: T) => Promise<R>) => Promise.all(list.map(ask))

it.each(Object.keys(kinds))('a transaction with %s is not believed, nor kept', async kind => {
  const served = await serveBent(kind)
  await each(served, async ({ signature, service }) => {
    const alone = await askHistory(service, wallet).catch(error => String(error))
    // An error or a gap, and never a history that looks right.
    if (typeof alone === 'string') expect(alone).toContain('"reason":"UPSTREAM_UNAVAILABLE"')
    else expect(alone.covers.continuity, signature).toBe(false)
  })
  for (const { node } of served) node.react = react
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + newestForMs })
  await each(served, async ({ signature, service }) =>
    expect(await read(service), signature).toEqual(right())
  )
})

it.each(Object.keys(kinds))('a transaction with %s is read from another node at once', async kind => {
  await each(await serveBent(kind, sound), async ({ signature, service }) =>
    expect(await read(service), signature).toEqual(right())
  )
})

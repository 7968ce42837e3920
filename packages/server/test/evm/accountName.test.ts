import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { Address } from '@chain-data/index'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import type { EvmHoldings as EvmHoldingsOnWire } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { namehash } from 'ethers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEvmHoldings } from '../../src/evm/holdings/holdings.ts'
import { chainPresets } from '../../src/model/chainPresets.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { createServer } from '../../src/server/start/createServer.ts'
import { type FaultProxy, startFaultProxy } from '../support/startFaultProxy.ts'
import {
  type Answer,
  assembleContract,
  invalid,
  loops,
  returns,
  returnsLongText,
  returnsText,
  returnsWord,
  returnsZeros,
  reverts
} from './assembleContract.ts'

// The chain id of Ethereum, so that the server takes the registry from its preset.
const chainId = 1
const registry = chainPresets.get(chainId)?.ensRegistry as Address
const owner: Address = '0x00000000000000000000000000000000000a11ce'
const stranger: Address = '0x00000000000000000000000000000000000000b0'
const resolver: Address = '0x0000000000000000000000000000000000002001'
const otherResolver: Address = '0x0000000000000000000000000000000000002002'
const reverseNode = namehash(`${owner.slice(2)}.addr.reverse`)

let anvil: AnvilNode
let proxy: FaultProxy
let rpc: EvmUpstreams

beforeAll(async () => {
  anvil = await startAnvil({ chainId })
  proxy = await startFaultProxy(anvil.rpcUrl)
  rpc = createEvmRpc({ chainId, rpcUrls: [proxy.url], timeoutMs: 10_000, maxAttempts: 2 })
})

afterAll(async () => {
  rpc?.close()
  await proxy?.close()
  await anvil?.stop()
})

/** Answers by the node that is asked for: a word for the registry, any answer for a resolver. Others are reverted. */
type ByNode = Readonly<Record<string, Answer>>

/** Compares the first argument with each node, and goes on with the answer of that node. */
const byNode =
  (answers: ByNode): Answer =>
  start => {
    let code = ''
    for (const [node, answer] of Object.entries(answers)) {
      // PUSH1 4 CALLDATALOAD PUSH32 node EQ ISZERO PUSH2 next JUMPI: 42 bytes, then the answer, and at next a JUMPDEST.
      const at = start + code.length / 2 + 42
      const body = answer(at)
      const next = (at + body.length / 2).toString(16).padStart(4, '0')
      code += `6004357f${node.slice(2)}141561${next}57${body}5b`
    }
    return code + reverts(start + code.length / 2)
  }

interface Ens {
  /** Resolvers by node, or the answer to every question; default: of the account and of `alice.eth`. */
  readonly resolvers?: ByNode | Answer
  readonly name?: Answer
  readonly addr?: ByNode | Answer
}

const asAnswer = (answers: ByNode | Answer) => (typeof answers === 'function' ? answers : byNode(answers))
const both = { [reverseNode]: returnsWord(resolver), [namehash('alice.eth')]: returnsWord(resolver) }
const honest = { [namehash('alice.eth')]: returnsWord(owner) }

async function setUp({ resolvers = both, name = returnsText('alice.eth'), addr = honest }: Ens = {}) {
  await place(registry, { '0178b8bf': asAnswer(resolvers) })
  await place(resolver, { '691f3431': name, '3b3b57de': asAnswer(addr) })
  await rpc.request({ method: 'evm_mine', params: [] })
}

async function place(at: Address, answers: Readonly<Record<string, Answer>>): Promise<void> {
  await rpc.request({ method: 'anvil_setCode', params: [at, assembleContract(answers)] })
}

async function readName(filter: readonly Address[] = []) {
  const holdings = createEvmHoldings({ rpc, chainId, ensRegistry: registry })
  const { name, incomplete } = await holdings.readHoldings({ address: owner, candidates: [], filter })
  return { ...(name !== undefined && { name }), incomplete }
}

const none = { incomplete: [] }
const unreadable = (address: Address) => ({ incomplete: [{ address, reason: 'NAME_UNREADABLE' }] })

describe('the name of an account', () => {
  beforeEach(async () => place(otherResolver, { '3b3b57de': byNode(honest) }))

  test('is the one that leads back to it', async () => {
    await setUp()
    expect(await readName()).toEqual({ name: 'alice.eth', ...none })
  })

  test('may have another resolver than its reverse record', async () => {
    const resolvers = { ...both, [namehash('alice.eth')]: returnsWord(otherResolver) }
    await setUp({ resolvers, addr: returnsWord(stranger) })
    expect(await readName()).toEqual({ name: 'alice.eth', ...none })
  })

  test('is not the one that its own resolver vouches for, where the registry names another', async () => {
    const resolvers = { ...both, [namehash('alice.eth')]: returnsWord(otherResolver) }
    await place(otherResolver, { '3b3b57de': returnsWord(stranger) })
    await setUp({ resolvers })
    expect(await readName()).toEqual(none)
  })

  test('is not read for some contracts', async () => {
    await setUp()
    expect(await readName([stranger])).toEqual(none)
  })

  test('takes one round of calls where there is none, and three where there is one', async () => {
    const reads = async (data: string) => {
      proxy.calls.length = 0
      await readName()
      return proxy.calls.filter(({ params }) => JSON.stringify(params).includes(data)).length
    }
    await setUp({ resolvers: returnsWord(0) })
    expect([await reads('0178b8bf'), await reads('691f3431')]).toEqual([1, 0])
    await setUp()
    // The second question to the registry and the one for the address share a call.
    expect([await reads('0178b8bf'), await reads('691f3431'), await reads('3b3b57de')]).toEqual([2, 1, 1])
  })
})

describe('no name is shown', () => {
  const cases: Readonly<Record<string, Ens>> = {
    'without a reverse record': { resolvers: returnsWord(0) },
    'where the registry refuses': { resolvers: reverts },
    'where the resolver has no code': { resolvers: returnsWord(stranger) },
    'where the resolver refuses the name': { name: reverts },
    'where the name is empty': { name: returnsText('') },
    'that leads to another account': { addr: returnsWord(stranger) },
    'that leads nowhere': { addr: returnsWord(0) },
    'whose resolver asks for a read off chain': { addr: reverts },
    'that has no resolver': { resolvers: { [reverseNode]: returnsWord(resolver) } },
    'whose resolver is that of a wildcard': {
      resolvers: { [reverseNode]: returnsWord(resolver), [namehash('alice.eth')]: returnsWord(0) },
      addr: returnsWord(owner)
    },
    // Every address is the account's own here, so only the form of the name keeps it away.
    ...Object.fromEntries(
      ['Alice.eth', 'xn--lice-8ve.eth', 'аlice.eth', 'alice', 'al\nice.eth', `${'a'.repeat(252)}.eth`].map(
        name => [
          `that is written ${JSON.stringify(name.slice(0, 20))}`,
          {
            resolvers: returnsWord(resolver),
            ...{ name: returnsText(name), addr: returnsWord(owner) }
          }
        ]
      )
    )
  }

  test.each(Object.entries(cases))('%s', async (_title, ens) => {
    await setUp(ens)
    expect(await readName()).toEqual(none)
  })
})

describe('a name is not known', () => {
  const cases: readonly (readonly [string, Ens, Address])[] = [
    ['where the registry answers too little', { resolvers: returns('01') }, registry],
    ['where the registry never ends', { resolvers: loops }, registry],
    ['where the address of the resolver has dirt above it', { resolvers: returnsWord(1n << 200n) }, registry],
    ['where the resolver runs into an invalid instruction', { name: invalid }, resolver],
    ['where the name is huge', { name: returnsLongText(1_000_000) }, resolver],
    ['where the name is no text', { name: returns('ff'.repeat(96)) }, resolver],
    ['where the address is huge', { addr: returnsZeros(100_000) }, resolver],
    ['where the address is too short', { addr: returns('00'.repeat(20)) }, resolver]
  ]

  test.each(cases)('%s', async (_title, ens, contract) => {
    await setUp(ens)
    expect(await readName()).toEqual(unreadable(contract))
  })
})

test('the whole server reads the name by the preset of the chain, at the block of the answer', async () => {
  await setUp()
  const folder = await temporaryFolder()
  const chain = { chainId, rpcUrls: [anvil.rpcUrl], dev: true, pollIntervalMs: 50 }
  const server = await createServer({
    listen: { host: '127.0.0.1', port: 0 },
    store: `sqlite:${folder.path}`,
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [chain] },
    log: { level: 'silent' }
  })
  try {
    const origin = await server.listen()
    const ask = async (method: string, params: readonly unknown[]) => {
      const response = await fetch(`${origin}/evm-chain`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`,
          'content-type': 'application/json'
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
      })
      return (await response.json()) as { result?: Record<string, unknown> }
    }
    const { result: status } = await eventually('the index is level with the node', async () => {
      const answer = await ask('svc_getSyncStatus', [])
      return answer.result?.ready === true && answer.result.lagBlocks === 0 ? answer : undefined
    })
    expect(status).toMatchObject({ name: 'Ethereum', nativeCurrency: { symbol: 'ETH', decimals: 18 } })
    const { result } = await ask('svc_getTokensAndNFTs', [owner])
    expect(checkResult('svc_getTokensAndNFTs', result)).toBe(undefined)
    expect(result as unknown as EvmHoldingsOnWire).toMatchObject({ native: '0', name: 'alice.eth' })
  } finally {
    await server.close()
    await folder.remove()
  }
})

import { eventually } from '@chain-data/index/test'
import { getCreate2Address, getCreateAddress, keccak256, zeroPadValue } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evmWallets } from './evmWallets.ts'
import { act, puppetCode, type Step } from './puppets.ts'
import { reconcile } from './reconcile.ts'
import { chainId, startTracedChain, type TracedChain } from './tracedChain.ts'

const eoa = '0x00000000000000000000000000000000000e0a01'
const identity = `0x${'4'.padStart(40, '0')}`
const lower = (address: string | null) => (address ?? '').toLowerCase() as `0x${string}`

let chain: TracedChain
/** Puppets with 1000 wei each. */
let p: `0x${string}`
let q: `0x${string}`

async function startPuppets(hardfork?: string) {
  chain = await startTracedChain(hardfork)
  const create = async () => lower((await chain.send({ data: puppetCode(), value: '0x3e8' })).contractAddress)
  p = await create()
  q = await create()
}

/** Has `p` take these steps in a block of its own. @returns what came of them, once the node's state agrees with it. */
async function perform(...steps: readonly Step[]) {
  return examine({ to: p, data: act(...steps) })
}

async function examine(transaction: { readonly [member: string]: unknown }) {
  const { blockNumber, contractAddress, status } = await chain.send(transaction)
  return { status, contractAddress: lower(contractAddress), ...(await settle(Number(blockNumber))) }
}

async function settle(number: number) {
  const block = await chain.block(number)
  const [flat, nested] = [
    await chain.tracesBy('trace_block', number),
    await chain.tracesBy('debug_traceBlockByHash', number)
  ]
  expect(nested).toEqual(flat)
  expect(await reconcile(chain, block)).toEqual([])
  const told = block.transactions[0]?.details.internal?.map(({ kind, from, to, value }) => [
    kind,
    from,
    to,
    value
  ])
  return { told, events: block.events, parties: block.parties }
}

const nonceOf = async (account: string) =>
  Number(await chain.call('eth_getTransactionCount', account, 'latest'))
const nextOf = async (creator: string) =>
  lower(getCreateAddress({ from: creator, nonce: await nonceOf(creator) }))

describe('what happens inside transactions, by both methods of anvil', () => {
  beforeAll(() => startPuppets())
  afterAll(() => chain.close())

  it('tells calls that send: to an account, a precompile, the contract itself, in order', async () => {
    const { told, parties } = await perform(
      { do: 'call', at: eoa, value: 1n },
      { do: 'call', at: identity, value: 2n, data: '0x11' },
      { do: 'call', at: p, value: 3n },
      { do: 'call', at: identity, data: '0x11' }
    )
    expect(told).toEqual([
      ['call', p, eoa, 1n],
      ['call', p, identity, 2n],
      ['call', p, p, 3n]
    ])
    expect(parties).toEqual([lower(chain.accounts[0] ?? ''), p, eoa, identity])
  })

  it('tells nested calls in the order of execution', async () => {
    const { told } = await perform(
      {
        do: 'call',
        at: q,
        value: 2n,
        data: act({ do: 'call', at: eoa, value: 1n }, { do: 'call', at: p, value: 4n })
      },
      { do: 'call', at: eoa, value: 5n }
    )
    expect(told).toEqual([
      ['call', p, q, 2n],
      ['call', q, eoa, 1n],
      ['call', q, p, 4n],
      ['call', p, eoa, 5n]
    ])
  })

  it('leaves out all that was undone, however deep, and keeps what was not', async () => {
    const { told, events } = await perform(
      {
        do: 'call',
        at: q,
        value: 1n,
        data: act(
          {
            do: 'call',
            at: p,
            value: 1n,
            data: act({ do: 'call', at: eoa, value: 1n }, { do: 'create', value: 1n, data: puppetCode() })
          },
          { do: 'revert' }
        )
      },
      { do: 'call', at: eoa, value: 7n }
    )
    expect(told).toEqual([['call', p, eoa, 7n]])
    expect(events.get(p)).toBeUndefined()
    expect(events.get(q)).toBeUndefined()
  })

  it('tells nothing of a transaction that failed, or of a creation that did', async () => {
    const call = await perform({ do: 'call', at: eoa, value: 1n }, { do: 'revert' })
    expect([call.status, call.told]).toEqual(['0x0', []])
    const creation = await examine({
      data: puppetCode({ do: 'call', at: eoa, value: 1n }, { do: 'revert' }),
      value: '0x5'
    })
    expect([creation.status, creation.told]).toEqual(['0x0', []])
  })

  it('keeps the value of delegated code with the account in whose place it runs', async () => {
    const send = act({ do: 'call', at: eoa, value: 1n })
    const { told } = await perform(
      { do: 'delegateCall', at: q, data: send },
      { do: 'callCode', at: q, value: 9n, data: send },
      { do: 'staticCall', at: q, data: send }
    )
    expect(told).toEqual([
      ['call', p, eoa, 1n],
      ['call', p, eoa, 1n]
    ])
  })

  it('tells what contracts are created with, and counts nonces also of creations that fail', async () => {
    const born = await nextOf(p)
    const { told, events } = await perform(
      {
        do: 'create',
        value: 3n,
        data: puppetCode({ do: 'call', at: eoa, value: 1n }, { do: 'create', data: puppetCode() })
      },
      { do: 'create', value: 2n, data: puppetCode({ do: 'revert' }) },
      { do: 'create', data: '0xfe' },
      // Not begun at all: the contract has not so much.
      { do: 'create', value: 10n ** 18n, data: puppetCode() },
      { do: 'delegateCall', at: q, data: act({ do: 'create', data: '0x00' }) }
    )
    expect(told).toEqual([
      ['create', p, born, 3n],
      ['call', born, eoa, 1n]
    ])
    expect(events.get(p)).toEqual([{ kind: 'creation', count: 4 }])
    expect(events.get(born)).toEqual([{ kind: 'creation', count: 1 }])
  })

  it('counts the nonce of a creation at an address that is taken', async () => {
    const again: Step = { do: 'create2', salt: 1, value: 1n, data: puppetCode() }
    const { told, events } = await perform(again, again)
    expect(told).toHaveLength(1)
    expect(events.get(p)).toEqual([{ kind: 'creation', count: 2 }])
  })

  it('tells what a contract leaves behind, and nothing of one that leaves it to itself and stays', async () => {
    const had = BigInt(await chain.call<string>('eth_getBalance', q, 'latest'))
    const { told } = await perform(
      { do: 'call', at: q, value: 1n, data: act({ do: 'selfDestruct', at: eoa }) },
      { do: 'call', at: q, value: 2n, data: act({ do: 'vanish' }) }
    )
    expect(told).toEqual([
      ['call', p, q, 1n],
      ['selfdestruct', q, eoa, had + 1n],
      ['call', p, q, 2n]
    ])
  })

  it('tells what is burned with a contract that lives for one transaction', async () => {
    const code = puppetCode({ do: 'selfDestruct', at: eoa })
    const salt = zeroPadValue('0x07', 20)
    const short = lower(getCreate2Address(p, zeroPadValue(salt, 32), keccak256(code)))
    const own = await nextOf(p)
    const { told, events } = await perform(
      { do: 'create', value: 4n, data: puppetCode({ do: 'create', data: '0x00' }, { do: 'vanish' }) },
      { do: 'create2', salt: 7, value: 2n, data: code },
      { do: 'call', at: short, value: 3n },
      { do: 'call', at: short, value: 5n }
    )
    expect(told).toEqual([
      ['create', p, own, 4n],
      ['create', p, short, 2n],
      ['selfdestruct', short, eoa, 2n],
      ['call', p, short, 3n],
      ['call', p, short, 5n]
    ])
    expect(events.get(own)).toEqual([{ kind: 'burn', amount: 4n }])
    expect(events.get(short)).toEqual([{ kind: 'burn', amount: 8n }])
    expect(events.get(p)).toEqual([{ kind: 'creation', count: 2 }])
  })

  it('tells what a contract sends while a transaction creates it, but not its own creation', async () => {
    const { told, events, contractAddress } = await examine({
      data: puppetCode({ do: 'call', at: eoa, value: 2n }, { do: 'create', value: 1n, data: '0x00' }),
      value: '0x5'
    })
    const child = lower(getCreateAddress({ from: contractAddress, nonce: 1 }))
    expect(told).toEqual([
      ['call', contractAddress, eoa, 2n],
      ['create', contractAddress, child, 1n]
    ])
    expect(events.get(contractAddress)).toEqual([{ kind: 'creation', count: 1 }])
    // Without code, so that its own nonce is told as well.
    expect(events.get(child)).toEqual([{ kind: 'creation', count: 1 }])
    expect(events.get(lower(chain.accounts[0] ?? ''))).toBeUndefined()
  })

  it('tells what an account with delegated code pays and creates (EIP-7702)', async () => {
    const [sender, delegated] = evmWallets
    if (sender === undefined || delegated === undefined) throw new Error('two wallets are needed')
    const authorization = delegated.authorizeSync({
      address: p,
      chainId,
      nonce: await nonceOf(delegated.address)
    })
    const account = lower(delegated.address)
    const raw = await sender.signTransaction({
      ...{ type: 4, chainId, nonce: await nonceOf(sender.address), to: account, value: 1n },
      data: act({ do: 'call', at: eoa, value: 6n }, { do: 'create', value: 1n, data: '0x00' }),
      ...{ gasLimit: 5_000_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n },
      authorizationList: [authorization]
    })
    const hash = await chain.call('eth_sendRawTransaction', raw)
    const { blockNumber } = await eventually(
      `${hash} is mined`,
      async () =>
        (await chain.call<{ blockNumber: string } | null>('eth_getTransactionReceipt', hash)) ?? undefined
    )
    const { told, events } = await settle(Number(blockNumber))
    expect(told?.[0]).toEqual(['call', account, eoa, 6n])
    expect(told?.[1]?.[0]).toBe('create')
    expect(events.get(account)).toContainEqual({ kind: 'creation', count: 1 })
  })

  it('tells nothing inside plain transfers, also to a precompile', async () => {
    expect((await examine({ to: eoa, value: '0x5' })).told).toEqual([])
    expect((await examine({ to: identity, value: '0x5' })).told).toEqual([])
  })

  it('traces a block of many transactions, each as its own', async () => {
    await chain.call('evm_setAutomine', false)
    const hashes = []
    for (const value of [1n, 2n, 3n]) {
      const data = act({ do: 'call', at: eoa, value })
      hashes.push(
        await chain.call('eth_sendTransaction', { from: chain.accounts[0], to: p, data, gas: '0x100000' })
      )
    }
    await chain.call('evm_mine')
    await chain.call('evm_setAutomine', true)
    const number = Number(await chain.call('eth_blockNumber'))
    const block = await chain.block(number)
    expect(block.transactions.map(({ details }) => details.internal?.map(({ value }) => value))).toEqual([
      [1n],
      [2n],
      [3n]
    ])
    expect(await reconcile(chain, block)).toEqual([])
  })
})

describe('before Cancun', () => {
  beforeAll(() => startPuppets('shanghai'))
  afterAll(() => chain.close())

  it('tells what is burned with any contract that destroys itself', async () => {
    const { told, events } = await perform(
      { do: 'call', at: q, value: 1n, data: act({ do: 'selfDestruct', at: eoa }) },
      { do: 'call', at: q, value: 3n, data: act({ do: 'call', at: eoa, value: 1n }) }
    )
    expect(told).toEqual([
      ['call', p, q, 1n],
      ['selfdestruct', q, eoa, 1_001n],
      ['call', p, q, 3n],
      ['call', q, eoa, 1n]
    ])
    expect(events.get(q)).toEqual([{ kind: 'burn', amount: 2n }])
    const own = await perform({ do: 'vanish' })
    expect(own.told).toEqual([])
    expect(own.events.get(p)).toEqual([{ kind: 'burn', amount: 996n }])
  })
})

import { type EvmHoldings, isPending, type SyncStatus, type TransactionRecord } from '@chain-data/client'
import { getAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import {
  type Devnet,
  type EvmDevnet,
  evmAccount,
  evmAddressesOf,
  evmContract,
  evmHistoryOf,
  evmHoldingsOf,
  evmNativeBalanceOf,
  expectedEvmHoldings,
  startDevnet
} from '../../src/index.ts'
import { evmChainId as chainId, post, succeed, successResult } from './support/callService.ts'
import { expectedHistory, feeOf, gasUsedOf } from './support/confirmedTruth.ts'
import { eventually, type Road, startRoad } from './support/startRoad.ts'

let devnet: Devnet
let evm: EvmDevnet
let road: Road
let gas: ReadonlyMap<string, bigint>
let addresses: string[]
let seeing: { readonly fromSeconds: number; readonly toSeconds: number }

beforeAll(async () => {
  devnet = await startDevnet({ seed: 31, solana: false })
  evm = devnet.evm!
  gas = await gasUsedOf(evm.driver)
  const all = [...evmAddressesOf(evm.world), ...Object.values(evm.world.accounts).map(a => a.address)]
  addresses = [...new Set(all)]
  const fromSeconds = Math.floor(Date.now() / 1000)
  road = await startRoad(devnet)
  seeing = { fromSeconds, toSeconds: Math.ceil(Date.now() / 1000) + 1 }
})

afterAll(async () => {
  await road?.close()
  await devnet?.stop()
})

const history = async (address: string, page?: { limit?: number; before?: string }) => {
  const params = page === undefined ? [address] : [address, page]
  const { result } = await succeed(road.baseUrl, { method: 'svc_getTransactionsByAddress', params })
  return result as TransactionRecord[]
}

const holdings = async (address: string, ...rest: unknown[]) => {
  const { result } = await succeed(road.baseUrl, {
    method: 'svc_getTokensAndNFTs',
    params: [address, ...rest]
  })
  return result as EvmHoldings
}

/** The members a record has, by the table of the contract alone: status, type and the kind of target decide. */
function membersOf({ status = 3, type, to }: TransactionRecord): string[] {
  const confirmed = status >= 3
  return [
    ...['hash', 'from', 'value', 'data', 'gasLimit', 'nonce', 'type', 'status', 'timestamp'],
    ...(to === undefined ? [] : ['to']),
    ...(type >= 1 ? ['accessList'] : []),
    ...(type >= 2 ? ['maxFeePerGas', 'maxPriorityFeePerGas'] : []),
    ...(type === 3 ? ['maxFeePerBlobGas', 'blobVersionedHashes'] : []),
    ...(confirmed || type <= 1 ? ['gasPrice'] : []),
    ...(confirmed ? ['gasSpent', 'fees', 'blockNumber'] : []),
    ...(status === 3 && to === undefined ? ['contractAddress'] : [])
  ].sort()
}

describe('svc_getTransactionsByAddress', () => {
  test('gives every address its whole history: each record, each field, in order, on the wire and to the client', async () => {
    const seen = new Set<string>()
    for (const address of addresses) {
      const records = await history(address)
      const timestamps = new Map<string, number>(records.map(({ hash, timestamp }) => [hash, timestamp]))
      const expected = expectedHistory(evm.driver, address, gas, hash => timestamps.get(hash)!)
      expect(records, address).toStrictEqual(expected)
      expect(await road.client.getTransactionsByAddress({ chainId, address })).toStrictEqual(expected)
      for (const record of records) {
        expect(Object.keys(record).sort(), record.hash).toEqual(membersOf(record))
        seen.add(`status ${record.status}`).add(`type ${record.type}`)
        if (!isPending(record)) continue
        expect(record.timestamp).toBeGreaterThanOrEqual(seeing.fromSeconds)
        expect(record.timestamp).toBeLessThanOrEqual(seeing.toSeconds)
      }
    }
    // What is compared must contain every kind there is.
    expect([...seen].sort()).toEqual([
      ...['status 0', 'status 1', 'status 3', 'status 4'],
      ...['type 0', 'type 1', 'type 2', 'type 3', 'type 4']
    ])
  })

  test('tells addresses with EIP-55 checksums wherever they stand', async () => {
    for (const address of addresses) {
      for (const { from, to, accessList, ...rest } of await history(address)) {
        const created = 'contractAddress' in rest ? rest.contractAddress : undefined
        const told = [from, to, created, ...(accessList ?? []).map(entry => entry.address)]
        for (const each of told) if (each !== undefined) expect(each).toBe(getAddress(each.toLowerCase()))
      }
    }
  })

  test('has fees that explain the balance of every account to the wei', async () => {
    const fees = new Map<string, bigint>()
    for (const address of addresses) {
      for (const record of await history(address)) {
        if ('fees' in record) fees.set(record.hash, BigInt(record.fees))
      }
    }
    for (const { address, name } of Object.values(evm.world.accounts)) {
      const explained = evmNativeBalanceOf(evm.world, address, ({ hash }) => fees.get(hash)!)
      const balance = BigInt((await evm.driver.rpc('eth_getBalance', address, 'latest')) as string)
      expect(explained, name).toBe(balance)
    }
  })

  test('proves an empty history for addresses that took part in nothing', async () => {
    expect(await history(evmAccount(evm.world, 'nobody').address)).toEqual([])
    expect(await history(`0x${'5a'.repeat(20)}`)).toEqual([])
  })

  test('takes the address in any letter case, wrong checksums included', async () => {
    const address = evmAccount(evm.world, 'alice').address
    const truth = await history(address)
    expect(truth.length).toBeGreaterThan(20)
    const swapped = address.replace(/[a-f]/i, letter =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    )
    for (const form of [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`, swapped]) {
      expect(await history(form), form).toStrictEqual(truth)
    }
  })

  test.each([1, 2, 3, 7, 25, 1000])('in pages of %i, joined, is the whole history', async limit => {
    for (const address of addresses) {
      const whole = await history(address)
      const waiting = whole.filter(record => isPending(record)).length
      const joined = await history(address, { limit })
      expect(joined).toStrictEqual(whole.slice(0, limit))
      // A page of nothing but waiting ones names no place to go on from: any confirmed record does.
      if (limit <= waiting) joined.push(...whole.slice(limit, waiting + 1))
      for (let last = joined.at(-1); last !== undefined && !isPending(last); ) {
        const page = await history(address, { limit, before: last.hash })
        const byClient = await road.client.getTransactionsByAddress({
          ...{ chainId, address, limit, before: last.hash }
        })
        expect(byClient).toStrictEqual(page)
        expect(page.length).toBeLessThanOrEqual(limit)
        joined.push(...page)
        last = page.at(-1)
      }
      expect(joined, address).toStrictEqual(whole)
    }
  })

  test('goes on after any confirmed record, with or without a limit, the hash in any case', async () => {
    const address = evmAccount(evm.world, 'bob').address
    const whole = await history(address)
    for (const [index, record] of whole.entries()) {
      if (isPending(record)) continue
      const { hash } = record
      const before = `0x${hash.slice(2).toUpperCase()}`
      expect(await history(address, { before })).toStrictEqual(whole.slice(index + 1))
      expect(await history(address, { before, limit: 2 })).toStrictEqual(whole.slice(index + 1, index + 3))
    }
  })

  test('goes on after a confirmed record of another address', async () => {
    const bob = evmAccount(evm.world, 'bob').address
    const frank = evmHistoryOf(evm.world, evmAccount(evm.world, 'frank').address)
    const cursor = frank.find(({ position }) => position !== undefined)!
    const older = (await history(bob)).filter(record => {
      if (!('blockNumber' in record) || record.blockNumber === undefined) return false
      const place = evm.world.transactions.find(({ hash }) => hash === record.hash)!.position!
      const { blockNumber, index } = cursor.position!
      return place.blockNumber < blockNumber || (place.blockNumber === blockNumber && place.index < index)
    })
    expect(older.length).toBeGreaterThan(5)
    expect(await history(bob, { before: cursor.hash })).toStrictEqual(older)
  })
})

const byContract = (a: { address: string; tokenId?: string }, b: { address: string; tokenId?: string }) =>
  `${a.address} ${a.tokenId}` < `${b.address} ${b.tokenId}` ? -1 : 1

/** Nobody promises an order of holdings. */
function sorted<T extends EvmHoldings>(answer: T): T {
  const { tokens, nfts, incomplete } = answer
  return {
    ...answer,
    tokens: tokens.toSorted(byContract),
    nfts: nfts.toSorted(byContract),
    ...(incomplete === undefined ? {} : { incomplete: incomplete.toSorted(byContract) })
  }
}

/** NFTs whose URI leads to nothing, or to something that is no JSON object. */
function unavailable(address: string, contracts?: string[]): Pick<EvmHoldings, 'incomplete'> {
  const incomplete = evmHoldingsOf(evm.world, address)
    .nfts.filter(({ tokenUri, document }) => tokenUri !== '' && document?.json === undefined)
    .filter(({ contract }) => contracts === undefined || contracts.includes(contract.address))
    .map(({ contract, tokenId }) => ({
      ...{
        address: contract.address as `0x${string}`,
        tokenId: tokenId.toString(),
        reason: 'METADATA_UNAVAILABLE'
      }
    }))
  return incomplete.length === 0 ? {} : { incomplete }
}

describe('svc_getTokensAndNFTs', () => {
  test('gives every address all it holds, every field, at the block it names', async () => {
    const head = (await evm.driver.rpc('eth_getBlockByNumber', 'latest', false)) as {
      number: string
      hash: `0x${string}`
      timestamp: string
    }
    const asOf = {
      blockNumber: Number(head.number),
      blockHash: head.hash,
      timestamp: Number(head.timestamp)
    }
    expect(asOf.blockNumber).toBe(evm.world.blocks.length - 1)
    let [tokenCount, nftCount] = [0, 0]
    for (const address of addresses) {
      const { tokens, nfts } = expectedEvmHoldings(evm.world, address, devnet.metadata.url)
      const native = evmNativeBalanceOf(evm.world, address, sent => feeOf(gas, sent)).toString()
      const expected = sorted({ native, tokens, nfts, asOf, ...unavailable(address) })
      for (const answer of [
        await holdings(address),
        await holdings(address.toLowerCase(), []),
        await road.client.getTokensAndNFTs({ chainId, address: `0x${address.slice(2).toUpperCase()}` })
      ]) {
        expect(sorted(answer), address).toStrictEqual(expected)
      }
      tokenCount += tokens.length
      nftCount += nfts.length
    }
    expect(tokenCount).toBeGreaterThan(8)
    expect(nftCount).toBeGreaterThan(12)
  })

  test('restricted to a list gives these contracts only, empty ERC-20 ones with "0", and the native balance', async () => {
    const { world } = evm
    const labels = ['gold', 'dollar', 'art', 'items'] as const
    for (const address of addresses) {
      const truth = expectedEvmHoldings(world, address, devnet.metadata.url)
      const native = evmNativeBalanceOf(world, address, sent => feeOf(gas, sent)).toString()
      for (const listed of [['gold'], ['art'], ['dollar', 'items'], labels] as (typeof labels)[number][][]) {
        const contracts = listed.map(label => evmContract(world, label))
        const list = contracts.map(contract => contract.address)
        const tokens = contracts
          .filter(({ kind }) => kind === 'erc20')
          .map(({ address: token, name, symbol, decimals = 0 }) => {
            const empty = { decimals, amount: '0', address: token as `0x${string}`, name, symbol, image: '' }
            return truth.tokens.find(each => each.address === token) ?? empty
          })
        const nfts = truth.nfts.filter(nft => list.includes(nft.address))
        const anyCase = list.map((each, index) =>
          index % 2 === 0 ? each.toLowerCase() : `0x${each.slice(2).toUpperCase()}`
        )
        for (const answer of [
          await holdings(address, anyCase),
          await road.client.getTokensAndNFTs({ chainId, address, tokenAddresses: list })
        ]) {
          const { asOf, ...rest } = answer
          expect(asOf?.blockNumber).toBe(world.blocks.length - 1)
          const expected = { native, tokens, nfts, ...unavailable(address, list) }
          expect(sorted(rest), `${address} ${listed}`).toStrictEqual(sorted(expected))
        }
      }
    }
  })

  test('shows a holding of somebody who never sent, and none of what was given away', async () => {
    const { world } = evm
    const held = async (name: string) => (await holdings(evmAccount(world, name).address)).tokens
    expect((await held('mallory')).map(({ symbol }) => symbol)).toContain('GLD')
    // Carol once held dollars and gave all of them back.
    expect((await held('carol')).map(({ symbol }) => symbol)).not.toContain('dUSD')
  })

  test('lists a token whose decimals cannot be believed as incomplete, without a made-up number', async () => {
    const { driver, world } = evm
    // Called without data it logs a transfer of 5 units to the caller; whatever else is asked, it answers 256.
    const transfer = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    const emit = `600560005233${'6000'}7f${transfer}60206000a300`
    const runtime = `36${'60'}${(4 + emit.length / 2).toString(16)}57${emit}5b61010060005260206000f3`
    const size = (runtime.length / 2).toString(16).padStart(2, '0')
    await driver.send({
      ...{ label: 'creation of a liar', from: 'dave', data: `0x60${size}80600b6000396000f3${runtime}` },
      creates: { label: 'liar', kind: 'other', name: '', symbol: '' }
    })
    await driver.mine()
    const liar = evmContract(world, 'liar')
    await driver.send({ label: 'gift of the liar', from: 'dave', to: liar.address })
    await driver.mine()
    const address = evmAccount(world, 'dave').address
    const { incomplete, tokens, asOf } = await expect
      .poll(() => holdings(address), { timeout: patient(10_000) })
      .toMatchObject({ asOf: { blockNumber: world.blocks.length - 1 } })
      .then(() => holdings(address))
    expect(asOf?.blockNumber).toBe(world.blocks.length - 1)
    expect(incomplete).toEqual([{ address: liar.address, reason: 'DECIMALS_UNREADABLE' }])
    expect(tokens.map(token => token.address)).not.toContain(liar.address)
    const listed = await holdings(address, [liar.address])
    expect([listed.tokens, listed.incomplete?.length]).toEqual([[], 1])
  })
})

describe('the envelope', () => {
  const params = ['0x0000000000000000000000000000000000000001']

  test.each([0, 1, -7, 2 ** 53 - 1, -(2 ** 53 - 1), '1', '1700000000000123', 'é'.repeat(256)])(
    'echoes the id %j as it is',
    async id => {
      await succeed(road.baseUrl, { method: 'svc_getTransactionsByAddress', params, id })
      await succeed(road.baseUrl, { method: 'svc_getTokensAndNFTs', params, id })
    }
  )

  test('answers a missing id with 1, and takes the chain from the URL when the body has none', async () => {
    const method = 'svc_getTransactionsByAddress'
    const body = JSON.stringify({ jsonrpc: '2.0', method, params })
    for (const path of ['/evm-chain?chainId=31337', '/evm-chain/?chainId=31337']) {
      const { status, text } = await post(road.baseUrl + path, body)
      expect(status, text).toBe(200)
      successResult(JSON.parse(text), { endpoint: '/evm-chain', method, id: 1 })
    }
  })

  test('of a batch keeps the order, and each entry succeeds or fails alone', async () => {
    const alice = evmAccount(evm.world, 'alice').address
    const entry = (id: number, method: string, entryParams: unknown[]) => ({
      ...{ jsonrpc: '2.0', id, chainId, method, params: entryParams }
    })
    const batch = [
      entry(9, 'svc_getTransactionsByAddress', [alice]),
      entry(8, 'svc_getTransactionsByAddress', ['0x12']),
      entry(7, 'svc_getTokensAndNFTs', [alice]),
      entry(6, 'svc_getSyncStatus', []),
      ...Array.from({ length: 96 }, (_, i) =>
        entry(100 + i, 'svc_getTransactionsByAddress', [alice, { limit: 1 }])
      )
    ]
    const { text } = await post(`${road.baseUrl}/evm-chain`, JSON.stringify(batch))
    const answers = JSON.parse(text) as { id: number; result?: unknown; error?: { code: number } }[]
    expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id))
    expect(answers[1]?.error?.code).toBe(-32602)
    expect(answers[0]?.result).toStrictEqual(await history(alice))
    for (const [index, answer] of answers.entries()) {
      const method = batch[index]!.method as 'svc_getSyncStatus'
      if (index !== 1) successResult(answer, { endpoint: '/evm-chain', method, id: answer.id })
    }
  })

  test('svc_getSyncStatus and rpc.discover answer what their schemas say', async () => {
    const head = evm.world.blocks.length - 1
    // What an earlier test mined last may still be on its way into the index.
    const result = await eventually(
      async () => {
        const answer = await succeed(road.baseUrl, { method: 'svc_getSyncStatus', params: [] })
        const status = answer.result as SyncStatus
        return status.indexedTo === head ? status : undefined
      },
      () => `block ${head} to be indexed`
    )
    expect(result).toMatchObject({
      ...{ chainId, ready: true, phase: 'following', degraded: false, deepHistory: 'none' },
      ...{ head, indexedFrom: 0, indexedTo: head, lagBlocks: 0 },
      covers: { transfers: true, internal: true, operations: true, pool: true }
    })
    const discovered = await succeed(road.baseUrl, { method: 'rpc.discover', params: [] })
    expect(discovered.result).toMatchObject({ openrpc: '1.3.2', info: { version: '1.0.0' } })
  })
})

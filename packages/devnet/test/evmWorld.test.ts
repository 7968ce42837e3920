import { Contract, id, JsonRpcProvider, ZeroAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devContract } from '../src/evm/contracts.ts'
import type { EvmDriver } from '../src/evm/createEvmDriver.ts'
import {
  confirmedInOrder,
  evmAccount,
  evmAddressesOf,
  evmContract,
  evmFeeOf,
  evmHistoryOf,
  evmHoldingsOf,
  evmNativeBalanceOf,
  evmTransaction,
  fillUriTemplate
} from '../src/evm/evmTruth.ts'
import { seedEvmWorld } from '../src/evm/seedEvmWorld.ts'
import { type AnvilNode, startAnvil } from '../src/evm/startAnvil.ts'
import { type MetadataServer, startMetadataServer } from '../src/metadata/startMetadataServer.ts'

interface Receipt {
  transactionHash: string
  status: string
  gasUsed: string
  effectiveGasPrice: string
  blobGasUsed?: string
  blobGasPrice?: string
  contractAddress: string | null
  transactionIndex: string
  logs: { address: string; topics: string[] }[]
}

let node: AnvilNode
let metadata: MetadataServer
let driver: EvmDriver
let provider: JsonRpcProvider
const receipts = new Map<string, Receipt>()

beforeAll(async () => {
  ;[node, metadata] = await Promise.all([startAnvil(), startMetadataServer()])
  driver = await seedEvmWorld(node.rpcUrl, { seed: 7, metadata })
  provider = new JsonRpcProvider(node.rpcUrl, 31337, {
    staticNetwork: true,
    batchMaxCount: 1,
    cacheTimeout: -1
  })
  for (const block of driver.world.blocks) {
    const found = (await driver.rpc('eth_getBlockReceipts', `0x${block.number.toString(16)}`)) as Receipt[]
    for (const receipt of found) receipts.set(receipt.transactionHash, receipt)
  }
})

afterAll(async () => {
  provider?.destroy()
  await Promise.all([node?.stop(), metadata?.stop()])
})

describe('blocks and transactions', () => {
  test('the node has exactly the blocks of the world, with their times, base fees and transactions in order', async () => {
    expect(Number(await driver.rpc('eth_blockNumber'))).toBe(driver.world.blocks.length - 1)
    expect(driver.world.blocks.length).toBeGreaterThan(36)
    for (const block of driver.world.blocks) {
      const found = await provider.getBlock(block.number)
      expect(found?.transactions).toEqual(block.transactionHashes)
      expect(found?.timestamp).toBe(block.timestampSeconds)
      if (block.number > 0) expect(found?.baseFeePerGas).toBe(block.baseFeeWei)
    }
  })

  test('every transaction reads back as it was signed', async () => {
    for (const sent of driver.world.transactions.filter(({ state }) => state !== 'dropped')) {
      const found = (await driver.rpc('eth_getTransactionByHash', sent.hash)) as Record<string, unknown>
      const at = sent.position
      expect(
        {
          from: String(found.from),
          to: found.to === null ? undefined : found.to,
          value: BigInt(found.value as string),
          data: found.input,
          gas: BigInt(found.gas as string),
          nonce: Number(found.nonce),
          type: Number(found.type),
          block: found.blockNumber === null ? undefined : Number(found.blockNumber),
          index: found.blockNumber === null ? undefined : Number(found.transactionIndex),
          accessList: found.accessList,
          cap: found.maxFeePerGas && BigInt(found.maxFeePerGas as string),
          tip: found.maxPriorityFeePerGas && BigInt(found.maxPriorityFeePerGas as string)
        },
        sent.label
      ).toEqual({
        from: sent.from.toLowerCase(),
        to: sent.to?.toLowerCase(),
        value: sent.valueWei,
        data: sent.data,
        gas: sent.gasLimit,
        nonce: sent.nonce,
        type: sent.type,
        block: at?.blockNumber,
        index: at?.index,
        accessList: sent.accessList?.map(({ address, storageKeys }) => ({
          address: address.toLowerCase(),
          storageKeys
        })),
        cap: sent.maxFeePerGasWei,
        tip: sent.maxPriorityFeePerGasWei
      })
    }
  })

  test('every receipt has the outcome, price, gas and created contract that were intended', () => {
    const confirmed = confirmedInOrder(driver.world)
    expect(receipts.size).toBe(confirmed.length)
    for (const sent of confirmed) {
      const receipt = receipts.get(sent.hash)!
      expect(Number(receipt.status), sent.label).toBe(sent.state === 'success' ? 1 : 0)
      expect(BigInt(receipt.effectiveGasPrice), sent.label).toBe(sent.effectiveGasPriceWei)
      if (sent.gasUsed !== undefined) expect(BigInt(receipt.gasUsed), sent.label).toBe(sent.gasUsed)
      if (sent.createdContract !== undefined) {
        expect(receipt.contractAddress?.toLowerCase()).toBe(sent.createdContract.toLowerCase())
      }
      if (sent.type === 3) {
        expect(BigInt(receipt.blobGasUsed!)).toBe(sent.blobGasUsed)
        expect(BigInt(receipt.blobGasPrice!)).toBe(sent.blobGasPriceWei)
      }
    }
    expect(confirmed.filter(({ gasUsed }) => gasUsed !== undefined).length).toBeGreaterThan(20)
  })

  test('token roles are exactly the parties of the logged transfers', () => {
    const fromTopics = new Map([
      [id('Transfer(address,address,uint256)'), 1],
      [id('TransferSingle(address,address,address,uint256,uint256)'), 2],
      [id('TransferBatch(address,address,address,uint256[],uint256[])'), 2]
    ])
    for (const sent of confirmedInOrder(driver.world)) {
      const logged = new Set<string>()
      for (const log of receipts.get(sent.hash)!.logs) {
        const fromTopic = fromTopics.get(log.topics[0]!)
        if (fromTopic === undefined) continue
        for (const topic of [log.topics[fromTopic]!, log.topics[fromTopic + 1]!]) {
          const address = `0x${topic.slice(26)}`
          if (address !== ZeroAddress) logged.add(address)
        }
      }
      const roles = sent.roles.filter(({ role }) => role === 'tokenFrom' || role === 'tokenTo')
      expect(new Set(roles.map(({ address }) => address.toLowerCase())), sent.label).toEqual(logged)
    }
  })

  test('all five transaction types, failures, creations and empty blocks occur', () => {
    const { transactions, blocks } = driver.world
    expect(new Set(transactions.map(({ type }) => type))).toEqual(new Set([0, 1, 2, 3, 4]))
    expect(transactions.filter(({ state }) => state === 'failed').length).toBe(5)
    expect(
      transactions.filter(({ createdContract }) => createdContract !== undefined).length
    ).toBeGreaterThan(5)
    expect(evmTransaction(driver.world, 'failed creation').attemptedContract).toBeDefined()
    expect(blocks.some(block => block.number > 0 && block.transactionHashes.length === 0)).toBe(true)
    expect(blocks.some(block => block.transactionHashes.length >= 3)).toBe(true)
  })
})

describe('the pool', () => {
  test('holds exactly the pending and queued transactions, the replaced one is gone', async () => {
    const pool = (await driver.rpc('txpool_content')) as Record<
      string,
      Record<string, Record<string, { hash: string }>>
    >
    const hashes = (part: string) =>
      Object.values(pool[part]!).flatMap(byNonce => Object.values(byNonce).map(({ hash }) => hash))
    const intended = (state: string) =>
      driver.world.transactions.filter(sent => sent.state === state).map(({ hash }) => hash)
    expect(hashes('pending').sort()).toEqual(intended('pending').sort())
    expect(hashes('queued').sort()).toEqual(intended('queued').sort())
    const replaced = evmTransaction(driver.world, 'replaced transfer')
    expect(replaced.state).toBe('dropped')
    expect(await driver.rpc('eth_getTransactionByHash', replaced.hash)).toBeNull()
  })
})

describe('holdings', () => {
  test('every token balance, owner, amount and URI of every address is what the contracts answer', async () => {
    const { world } = driver
    for (const address of evmAddressesOf(world)) {
      const held = evmHoldingsOf(world, address)
      for (const contract of Object.values(world.contracts)) {
        if (contract.kind === 'erc20') {
          const token = new Contract(contract.address, devContract('DevToken').abi, provider)
          const mine = held.tokens.find(token => token.contract.address === contract.address)
          expect(await token.getFunction('balanceOf')(address)).toBe(mine?.amount ?? 0n)
        }
        if (contract.kind === 'erc721') {
          const nft = new Contract(contract.address, devContract('DevNft').abi, provider)
          const mine = held.nfts.filter(nft => nft.contract.address === contract.address)
          expect(await nft.getFunction('balanceOf')(address)).toBe(BigInt(mine.length))
          for (const { tokenId, tokenUri } of mine) {
            expect(await nft.getFunction('ownerOf')(tokenId)).toBe(address)
            expect(await nft.getFunction('tokenURI')(tokenId)).toBe(tokenUri)
          }
        }
        if (contract.kind === 'erc1155') {
          const multi = new Contract(contract.address, devContract('DevMultiToken').abi, provider)
          for (const tokenId of [1n, 2n, 4n, 0xabcn]) {
            const mine = held.nfts.find(nft => nft.tokenId === tokenId && nft.isSemiFungible)
            expect(await multi.getFunction('balanceOf')(address, tokenId)).toBe(mine?.balance ?? 0n)
            if (mine) expect(await multi.getFunction('uri')(tokenId)).toBe(mine.tokenUri)
          }
        }
      }
    }
  })

  test('contracts name themselves as the world says', async () => {
    for (const contract of Object.values(driver.world.contracts)) {
      if (contract.kind === 'other') continue
      const found = new Contract(contract.address, devContract('DevToken').abi, provider)
      expect(await found.getFunction('name')()).toBe(contract.name)
      expect(await found.getFunction('symbol')()).toBe(contract.symbol)
      if (contract.kind === 'erc20')
        expect(Number(await found.getFunction('decimals')())).toBe(contract.decimals)
    }
  })

  test('native balances follow from what was sent and the gas that receipts report', async () => {
    const { world } = driver
    for (const { name, address } of Object.values(world.accounts)) {
      const expected = evmNativeBalanceOf(world, address, sent => {
        const fee = evmFeeOf(sent, BigInt(receipts.get(sent.hash)!.gasUsed))
        if (fee === undefined) throw new Error(`no fee for ${sent.label}`)
        return fee
      })
      expect(await provider.getBalance(address), name).toBe(expected)
    }
  })

  test('someone held a token and holds none now, someone only ever received, someone was never there', () => {
    const { world } = driver
    const dollar = evmContract(world, 'dollar')
    const carol = evmAccount(world, 'carol').address
    expect(evmHistoryOf(world, carol).some(sent => sent.label === 'dollar to carol')).toBe(true)
    expect(evmHoldingsOf(world, carol).tokens.some(token => token.contract === dollar)).toBe(false)
    const frank = evmAccount(world, 'frank').address
    expect(evmHistoryOf(world, frank).every(sent => sent.from !== frank)).toBe(true)
    expect(evmHoldingsOf(world, frank).nfts.filter(nft => nft.isSemiFungible).length).toBe(2)
    expect(evmHistoryOf(world, evmAccount(world, 'nobody').address)).toEqual([])
  })

  test('every metadata URI that is served over HTTP answers with the document of the world', async () => {
    let read = 0
    for (const [uri, document] of driver.world.documents) {
      if (document.via !== 'http') continue
      const response = await fetch(uri)
      expect(response.status).toBe(200)
      const text = await response.text()
      if (document.json === undefined) expect(() => JSON.parse(text)).toThrow()
      else expect(JSON.parse(text)).toEqual(document.json)
      read++
    }
    expect(read).toBeGreaterThan(4)
    const missing = evmHoldingsOf(driver.world, evmAccount(driver.world, 'alice').address).nfts.find(
      nft => nft.tokenId === 3n
    )!
    expect(missing.document).toBeUndefined()
    expect((await fetch(fillUriTemplate(missing.tokenUri, 3n))).status).toBe(404)
  })
})

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEvmCalls, evmAccount, evmContract } from '@chain-data/devnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HoldingsService, startHoldingsService } from '../filter/startHoldingsService.ts'

let service: HoldingsService
let neighbour: Server
let requests = 0
let port: number

beforeAll(async () => {
  neighbour = createServer((_req, res) => res.end('{"name":"secret"}'))
  neighbour.on('connection', () => requests++)
  await new Promise<void>(resolve => neighbour.listen(0, '127.0.0.1', resolve))
  port = (neighbour.address() as AddressInfo).port
  service = await startHoldingsService()
})
afterAll(async () => {
  await service?.close()
  await new Promise(resolve => neighbour?.close(resolve))
})

test('a token URI that points at a server on this machine is named as unavailable and never connects', async () => {
  const { driver, metadata } = service
  const calls = createEvmCalls(driver.world)
  const art = evmContract(driver.world, 'art')
  // This one may be read; its picture is where nobody may be led.
  const readable = metadata.put('/readable.json', {
    ...{
      status: 200,
      contentType: 'application/json',
      body: '{"name":"Door","image":"http://127.0.0.1/x.png"}'
    }
  })
  const uris = [
    `http://127.0.0.1:${port}/1.json`,
    `http://localhost:${port}/1.json`,
    `http://1.1.1.1&@127.0.0.1:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://2130706433:${port}/`,
    `http://127.0.0.1:${port}/ipfs/1.json`,
    readable
  ]
  for (const [i, uri] of uris.entries()) {
    await driver.send({
      label: `hostile ${i}`,
      ...calls.erc721Mint('deployer', art, 'judy', 9_000n + BigInt(i), uri)
    })
  }
  await driver.mine()
  await service.indexed()

  const answer = await service.holdings(evmAccount(driver.world, 'judy').address)
  expect(answer.nfts.map(({ tokenURI, data, image }) => ({ tokenURI, name: data.name, image }))).toEqual(
    uris.map(tokenURI => ({ tokenURI, name: tokenURI === readable ? 'Door' : undefined, image: '' }))
  )
  expect(answer.incomplete).toEqual(
    uris.slice(0, -1).map((_, i) => ({
      address: art.address,
      tokenId: String(9_000 + i),
      reason: 'METADATA_UNAVAILABLE'
    }))
  )
  expect(metadata.requestsFor('/readable.json')).toBe(1)
  expect(requests).toBe(0)
})

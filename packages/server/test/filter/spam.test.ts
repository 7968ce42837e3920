import { evmAccount, evmContract } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { getAddress } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assembleContract, returnsText, returnsWord, reverts, selectors } from '../evm/assembleContract.ts'
import { type HoldingsService, startHoldingsService } from './startHoldingsService.ts'

const tokens = {
  nameless: getAddress(`0x${'0b'.repeat(20)}`),
  listed: getAddress(`0x${'1b'.repeat(20)}`),
  lookalike: getAddress(`0x${'2b'.repeat(20)}`),
  hiding: getAddress(`0x${'3b'.repeat(20)}`),
  claiming: getAddress(`0x${'4b'.repeat(20)}`),
  allowed: getAddress(`0x${'5b'.repeat(20)}`),
  denied: getAddress(`0x${'6b'.repeat(20)}`),
  plain: getAddress(`0x${'7b'.repeat(20)}`)
} as const
const logo = 'https://logos.names.art/usdc.png'
const listToken = { chainId: 31337, decimals: 6, logoURI: logo }

let service: HoldingsService
let nobody: string

beforeAll(async () => {
  service = await startHoldingsService(metadata => {
    const list = {
      name: 'Local',
      tokens: [
        { ...listToken, address: tokens.listed, name: 'Wrong Name', symbol: 'WRONG' },
        { ...listToken, address: tokens.nameless, name: 'Listed Name', symbol: 'LST' },
        { ...listToken, address: `0x${'99'.repeat(20)}`, name: 'USD Coin', symbol: 'USDC' },
        { broken: true }
      ]
    }
    const url = metadata.put('/list.json', {
      ...{ status: 200, contentType: 'application/json', body: JSON.stringify(list) }
    })
    return {
      metadata: { tokenLists: [url, '/missing/list.json'] },
      spam: {
        allow: [`31337:${tokens.allowed.toLowerCase()}`, `1:${tokens.claiming}`],
        deny: [`31337:${tokens.denied}`]
      }
    }
  })
  nobody = evmAccount(service.driver.world, 'nobody').address
  const place = (address: string, name: string, symbol: string) =>
    service.place(
      address,
      assembleContract({
        [selectors.balanceOf]: returnsWord(5),
        [selectors.decimals]: returnsWord(6),
        [selectors.name]: name === '' ? reverts : returnsText(name),
        [selectors.symbol]: symbol === '' ? reverts : returnsText(symbol)
      })
    )
  await place(tokens.nameless, '', '')
  await place(tokens.listed, 'Claim at own-name.com', 'OWN')
  await place(tokens.lookalike, 'US Dollars', 'USDС')
  await place(tokens.hiding, 'Qu\u200biet', 'QT')
  await place(tokens.claiming, 'Visit usdc-gift.xyz to claim', 'GIFT')
  await place(tokens.allowed, 'Visit usdc-gift.xyz to claim', 'GIFT')
  await place(tokens.denied, 'Honest Coin', 'HON')
  await place(tokens.plain, 'Plain Coin', 'PLN')
  await eventually('the list is read', () => service.logLines.some(line => line.includes('Token list read')))
})
afterAll(() => service?.close())

test('each token has the verdict that its lists and its name give, and none is hidden', async () => {
  const { tokens: found } = await service.holdings(nobody, Object.values(tokens))
  expect(found).toHaveLength(Object.keys(tokens).length)
  const verdicts = Object.fromEntries(found.map(({ address, spam }) => [address, spam]))
  expect(verdicts).toEqual({
    [tokens.nameless]: { verdict: 'ok', reasons: ['IN_TOKEN_LIST'] },
    [tokens.listed]: { verdict: 'ok', reasons: ['IN_TOKEN_LIST'] },
    [tokens.lookalike]: { verdict: 'spam', reasons: ['NAME_CONFUSABLE'] },
    [tokens.hiding]: { verdict: 'suspicious', reasons: ['NAME_HIDES_CHARACTERS'] },
    [tokens.claiming]: { verdict: 'spam', reasons: ['NAME_HAS_URL', 'CLAIM_WORDS'] },
    [tokens.allowed]: { verdict: 'ok', reasons: ['ALLOW_LISTED'] },
    [tokens.denied]: { verdict: 'spam', reasons: ['DENY_LISTED'] },
    [tokens.plain]: undefined
  })
  expect(found.find(({ address }) => address === tokens.plain)).not.toHaveProperty('spam')
})

test("a list gives logos, and names where the contract tells none; the contract's own name wins", async () => {
  const { tokens: found } = await service.holdings(nobody, [tokens.nameless, tokens.listed])
  expect(found).toMatchObject([
    { address: tokens.nameless, name: 'Listed Name', symbol: 'LST', image: logo },
    { address: tokens.listed, name: 'Claim at own-name.com', symbol: 'OWN', image: logo }
  ])
})

test('the log counts the entries left out and names the list that is missing', () => {
  const lines = service.logLines.map(
    line => JSON.parse(line) as { msg: string; count?: number; problem?: string }
  )
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'Entries of a token list left out', count: 1 }))
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'Token list not used', problem: 'ENOENT' }))
})

test('honest tokens and NFTs of the devnet have no verdict', async () => {
  const carol = await service.holdings(evmAccount(service.driver.world, 'carol').address)
  expect(carol.nfts.map(({ address }) => address)).toContain(evmContract(service.driver.world, 'art').address)
  for (const item of [...carol.tokens, ...carol.nfts]) expect(item).not.toHaveProperty('spam')
})

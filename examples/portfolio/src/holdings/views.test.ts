import { expect, test } from 'vitest'
import { toEvmView } from './toEvmView.ts'
import { toSolanaView } from './toSolanaView.ts'

const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' as const

test('amounts of an EVM account keep every digit', () => {
  const wei = (2n ** 256n - 1n).toString()
  const view = toEvmView({
    native: wei,
    tokens: [{ address, name: 'Gold', symbol: 'GLD', decimals: 18, amount: wei, image: '' }],
    nfts: []
  })
  expect([view.native, view.tokens[0]?.amount]).toEqual([BigInt(wei), BigInt(wei)])
})

test.each([-1, 1.5, 256, Number.NaN])('decimals of %s are unknown ones', decimals => {
  const token = { address, name: '', symbol: '', decimals, amount: '1', image: '' }
  expect(toEvmView({ native: '0', tokens: [token], nfts: [] }).tokens[0]).not.toHaveProperty('decimals')
})

test.each([
  ['read', { name: 'Seven' }, 'https://names.art/7'],
  ['unavailable', {}, 'https://names.art/7'],
  ['none', {}, '']
])('the metadata of an NFT is %s', (metadata, data, tokenURI) => {
  const nft = {
    address,
    isSemiFungible: false,
    tokenId: '7',
    tokenBalance: '1',
    name: '',
    symbol: '',
    image: ''
  }
  const view = toEvmView({ native: '0', tokens: [], nfts: [{ ...nft, tokenURI, data }] })
  expect(view.nfts[0]?.metadata).toBe(metadata)
})

test('amounts of a Solana account are read from their digits, not from rounded numbers', () => {
  const view = toSolanaView({
    ...{ lamports: 2 ** 64, lamportsString: '18446744073709551613', nfts: [] },
    tokens: [
      {
        ...{ address: 'account', mint: 'mint', name: '', symbol: '', image: '', decimals: 0 },
        ...{ amount: 2 ** 53, amountString: '9007199254740993' }
      }
    ]
  })
  expect([view.native, view.tokens[0]?.amount]).toEqual([18446744073709551613n, 9007199254740993n])
})

test('accounts of one mint are one row with their sum, each still there with every digit', () => {
  const account = (address: string, mint: string, amountString: string) => ({
    ...{ address, mint, name: '', symbol: 'COIN', image: '', decimals: 6 },
    ...{ amount: Number(amountString), amountString }
  })
  const { tokens } = toSolanaView({
    ...{ lamports: 1, nfts: [] },
    tokens: [account('a', 'coin', '9007199254740993'), account('b', 'other', '5'), account('c', 'coin', '2')]
  })
  expect(tokens.map(({ key, amount, accounts }) => ({ key, amount, accounts }))).toEqual([
    {
      ...{ key: 'coin', amount: 9007199254740995n },
      accounts: [
        { address: 'a', amount: 9007199254740993n },
        { address: 'c', amount: 2n }
      ]
    },
    { key: 'other', amount: 5n, accounts: [{ address: 'b', amount: 5n }] }
  ])
})

test('values of an EVM account are there where the service names a price, and nowhere else', () => {
  const token = { address, name: 'Gold', symbol: 'GLD', decimals: 2, image: '' }
  const view = toEvmView({
    native: (10n ** 18n).toString(),
    prices: { currency: 'EUR', timestamp: 1, native: '3012.555' },
    tokens: [
      { ...token, amount: '150', price: '2' },
      { ...token, amount: '150' }
    ],
    nfts: []
  })
  expect([view.currency, view.nativeValue, view.tokens[0]?.value]).toEqual(['EUR', 301_256n, 300n])
  expect(view.tokens[1]).not.toHaveProperty('value')
  const without = toEvmView({ native: '1', tokens: [{ ...token, amount: '1' }], nfts: [] })
  for (const key of ['currency', 'nativeValue']) expect(without).not.toHaveProperty(key)
})

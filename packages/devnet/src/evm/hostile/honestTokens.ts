import { encodeBase64, toUtf8Bytes } from 'ethers'
import { lookAlike } from './catalogue/falseLogs.ts'
import { type HostileNftTruth, type HostileToken, listedNfts, listedToken } from './HostileToken.ts'
import { callOf, creationOf, hostileContract } from './hostileContract.ts'

const image = `data:image/svg+xml;base64,${encodeBase64(toUtf8Bytes('<svg xmlns="http://www.w3.org/2000/svg"/>'))}`

/** A sound URI of a document that is all on chain. */
function documentUri(data: Readonly<Record<string, unknown>>): string {
  return `data:application/json;base64,${encodeBase64(toUtf8Bytes(JSON.stringify(data)))}`
}

function artOf(tokenId: bigint): HostileNftTruth {
  const data = { name: `Art ${tokenId}`, description: 'as it should be', image, level: 3 }
  return {
    tokenId,
    balance: 1n,
    isSemiFungible: false,
    tokenUri: documentUri(data),
    name: data.name,
    symbol: 'ART',
    data,
    image
  }
}

const unitsData = { name: 'Potion', image }
const units: HostileNftTruth = {
  tokenId: 1n,
  balance: 40n,
  isSemiFungible: true,
  tokenUri: documentUri(unitsData),
  name: 'Potion',
  symbol: 'ITM',
  data: unitsData,
  image
}

const kitty: HostileNftTruth = {
  tokenId: 9n,
  balance: 1n,
  isSemiFungible: false,
  tokenUri: '',
  name: 'Old Kitties',
  symbol: 'OK',
  data: {},
  image: ''
}

const art = [artOf(1n), artOf(3n), artOf(2n ** 256n - 1n)]

/** One sound contract of every kind, in the form of the catalogue: what must be complete and exact beside all the others. */
export const honestTokens: readonly HostileToken[] = [
  {
    key: 'erc20',
    about: 'a fungible token that is received, sent, and moved by nobody in an address poisoning',
    async play({ create, call, holder, stranger }) {
      const token = await create(creationOf('HonestToken', ['Honest Token', 'HON', 6]))
      await call(token, callOf('HonestToken', 'mint', [stranger, 1_000_000n]))
      await call(token, callOf('HonestToken', 'transfer', [holder, 750_000n]), { from: stranger })
      await call(token, callOf('HonestToken', 'transfer', [stranger, 50_000n]), { from: holder })
      await call(token, callOf('HonestToken', 'transferFrom', [holder, lookAlike(holder), 0n]), {
        from: stranger
      })
      return token
    },
    outcomes: () => [listedToken({ amount: 700_000n, decimals: 6, name: 'Honest Token', symbol: 'HON' })]
  },
  {
    key: 'erc721',
    about: 'a collection: two ids minted, one that went away and came back, one that went away',
    async play({ create, call, holder, stranger }) {
      const nft = await create(creationOf('HonestNft', ['Honest Art', 'ART']))
      const mint = (tokenId: bigint) =>
        call(nft, callOf('HonestNft', 'mint', [holder, tokenId, artOf(tokenId).tokenUri]))
      const move = (from: string, to: string, tokenId: bigint) =>
        call(nft, callOf('HonestNft', 'transferFrom', [from, to, tokenId]), { from })
      for (const { tokenId } of art) await mint(tokenId)
      await mint(2n)
      await move(holder, stranger, 2n)
      await move(holder, stranger, 3n)
      await move(stranger, holder, 3n)
      return nft
    },
    outcomes: () => [listedNfts(...art)]
  },
  {
    key: 'erc1155',
    about: 'units of two ids, of which one was sent away entirely',
    async play({ create, call, holder, stranger }) {
      const multi = await create(creationOf('HonestMultiToken', ['Honest Items', 'ITM', units.tokenUri]))
      await call(multi, callOf('HonestMultiToken', 'mint', [holder, 1n, 60n]))
      await call(multi, callOf('HonestMultiToken', 'mint', [holder, 2n, 5n]))
      const send = (tokenId: bigint, amount: bigint) =>
        call(
          multi,
          callOf('HonestMultiToken', 'safeTransferFrom', [holder, stranger, tokenId, amount, '0x']),
          { from: holder }
        )
      await send(1n, 20n)
      await send(2n, 5n)
      return multi
    },
    outcomes: () => [listedNfts(units)]
  },
  {
    key: 'weth',
    about: 'wrapped ether: wrapping logs a Deposit and no Transfer',
    async play({ create, call, holder }) {
      const weth = await create(hostileContract('WrappedEther').bytecode)
      await call(weth, callOf('WrappedEther', 'deposit'), { from: holder, valueWei: 10n ** 18n })
      await call(weth, callOf('WrappedEther', 'withdraw', [10n ** 17n]), { from: holder })
      return weth
    },
    outcomes: () => [
      listedToken({ amount: 9n * 10n ** 17n, decimals: 18, name: 'Wrapped Ether', symbol: 'WETH' })
    ]
  },
  {
    key: 'kitties',
    about: 'a collection from before ERC-721, with nothing indexed in its logs',
    async play({ create, call, holder, stranger }) {
      const kitties = await create(hostileContract('KittyCollection').bytecode)
      await call(kitties, callOf('KittyCollection', 'mint', [stranger, 9n]))
      await call(kitties, callOf('KittyCollection', 'transfer', [holder, 9n]), { from: stranger })
      return kitties
    },
    outcomes: () => [listedNfts(kitty)]
  }
]

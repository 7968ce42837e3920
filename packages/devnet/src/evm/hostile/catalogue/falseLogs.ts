import { type HostileToken, leftOut, listedToken } from '../HostileToken.ts'
import { batchLog, fungibleLog, scriptedToken, text, uniqueLog, unitsLog, word } from '../scriptedToken.ts'
import { plainNft, plainToken, plainUnits } from './scriptedEntries.ts'

const stablecoin = { name: text('USD Coin'), symbol: text('USDC'), decimals: word(6n) }

/** Contracts whose logs tell of transfers that never were. State decides, so only a lie in both is believed. */
export const falseLogs: readonly HostileToken[] = [
  {
    key: 'log-without-balance',
    about: 'logs that the holder received 10^12 of a well-known name; the balance is 0',
    play: ({ create, holder }) =>
      create(scriptedToken({ ...stablecoin, balanceOf: word(0n) }, [fungibleLog(holder, 10n ** 12n)])),
    outcomes: ({ listed }) => [
      listed ? listedToken({ amount: 0n, decimals: 6, name: 'USD Coin', symbol: 'USDC' }) : leftOut
    ]
  },
  {
    key: 'log-from-holder',
    about: 'logs that the holder sent tokens away, to have its look-alike address copied',
    play: ({ create, holder }) => {
      const log = fungibleLog(lookAlike(holder), 10n ** 12n, holder)
      return create(scriptedToken({ ...stablecoin, balanceOf: word(0n) }, [log]))
    },
    outcomes: ({ listed }) => [
      listed ? listedToken({ amount: 0n, decimals: 6, name: 'USD Coin', symbol: 'USDC' }) : leftOut
    ]
  },
  {
    key: 'log-and-balance',
    about: 'logs a transfer that never was, and says a balance that nobody minted: the two agree',
    play: ({ create, holder }) =>
      create(scriptedToken({ ...stablecoin, balanceOf: word(10n ** 12n) }, [fungibleLog(holder, 1n)])),
    outcomes: () => [listedToken({ amount: 10n ** 12n, decimals: 6, name: 'USD Coin', symbol: 'USDC' })]
  },
  {
    key: 'log-of-foreign-nft',
    about: 'logs that the holder received an NFT; its owner is somebody else',
    play: ({ create, holder, stranger }) =>
      create(scriptedToken({ ownerOf: word(stranger) }, [uniqueLog(holder, 1n)])),
    outcomes: () => [leftOut]
  },
  {
    key: 'log-of-nft',
    about: 'logs an NFT that nobody minted, and says that the holder owns it: the two agree',
    play: ({ create, holder }) =>
      create(
        scriptedToken({ ownerOf: word(holder), tokenURI: text(plainNft.tokenUri), symbol: text('SCN') }, [
          uniqueLog(holder, 2n ** 256n - 1n)
        ])
      ),
    outcomes: () => [{ nfts: [{ ...plainNft, tokenId: 2n ** 256n - 1n }], incomplete: [] }]
  },
  {
    key: 'log-of-units',
    about: 'logs ERC-1155 units to the holder; the balance is 0',
    play: ({ create, holder }) =>
      create(scriptedToken({ unitsOf: word(0n) }, [unitsLog(holder, 1n, 10n ** 30n)])),
    outcomes: () => [leftOut]
  },
  {
    key: 'batch-unequal',
    about: 'logs an ERC-1155 batch with more ids than amounts; that is no transfer',
    play: ({ create, holder }) =>
      create(scriptedToken({ unitsOf: word(5n) }, [batchLog(holder, [1n, 2n, 3n], [1n])])),
    outcomes: () => [leftOut]
  },
  {
    key: 'batch-largest-ids',
    about: 'logs an ERC-1155 batch whose last id is 2^256-1',
    play: ({ create, holder }) => {
      const script = { unitsOf: word(5n), uri: text(plainUnits.tokenUri), symbol: text(plainUnits.symbol) }
      return create(scriptedToken(script, [batchLog(holder, [0n, 2n ** 256n - 1n], [5n, 5n])]))
    },
    outcomes: () => [
      {
        nfts: [0n, 2n ** 256n - 1n].map(tokenId => ({ ...plainUnits, tokenId, balance: 5n })),
        incomplete: []
      }
    ]
  },
  {
    key: 'log-of-both-kinds',
    about: 'logs one transfer as ERC-20 and as ERC-721, and is a fungible token',
    play: ({ create, holder }) => {
      const script = { ...stablecoin, balanceOf: word(plainToken.amount) }
      return create(scriptedToken(script, [fungibleLog(holder, 1n), uniqueLog(holder, 1n)]))
    },
    outcomes: () => [
      listedToken({ amount: plainToken.amount, decimals: 6, name: 'USD Coin', symbol: 'USDC' })
    ]
  }
]

/** An address that begins and ends as another, which is all that many wallets show. */
export function lookAlike(address: string): string {
  return `${address.slice(0, 8)}${'5'.repeat(28)}${address.slice(-6)}`
}

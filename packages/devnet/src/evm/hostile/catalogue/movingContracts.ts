import { getCreate2Address, keccak256, ZeroHash } from 'ethers'
import { type HostileStage, type HostileToken, leftOut, listedToken } from '../HostileToken.ts'
import { callOf, creationOf, hostileContract } from '../hostileContract.ts'

const mortal = { decimals: 3, symbol: 'MORT' }

/** Where a factory puts its token of this name, whether it is there or not. */
function mortalAddress(factory: string, name: string): string {
  return getCreate2Address(factory, ZeroHash, keccak256(creationOf('MortalToken', [name])))
}

async function playFactory(
  { create, call, holder }: HostileStage,
  name: string,
  deeds: readonly { readonly method: 'create' | 'createAndEnd'; readonly amount: bigint }[]
): Promise<string> {
  const factory = await create(hostileContract('MortalFactory').bytecode)
  for (const { method, amount } of deeds) {
    await call(factory, callOf('MortalFactory', method, [name, holder, amount]))
  }
  return mortalAddress(factory, name)
}

const nowhere = `0x${'dead'.repeat(10)}`

/** Contracts that change without a log, lose their code, or come back. */
export const movingContracts: readonly HostileToken[] = [
  {
    key: 'taxed',
    about: 'keeps a tenth of each transfer and logs the whole',
    async play({ create, call, holder, stranger }) {
      const token = await create(creationOf('TaxedToken', ['Taxed', 'TAX']))
      await call(token, callOf('HonestToken', 'mint', [stranger, 5_000n]))
      await call(token, callOf('HonestToken', 'transfer', [holder, 1_000n]), { from: stranger })
      return token
    },
    outcomes: () => [listedToken({ amount: 900n, decimals: 18, name: 'Taxed', symbol: 'TAX' })]
  },
  {
    key: 'rebasing',
    about: 'multiplies every balance by three halves without a log',
    async play({ create, call, holder }) {
      const token = await create(creationOf('RebasingToken', ['Rebasing', 'REB']))
      await call(token, callOf('HonestToken', 'mint', [holder, 1_000n]))
      await call(token, callOf('RebasingToken', 'rebase', [3n, 2n]))
      return token
    },
    outcomes: () => [listedToken({ amount: 1_500n, decimals: 18, name: 'Rebasing', symbol: 'REB' })]
  },
  {
    key: 'hollow-proxy',
    about: 'a proxy whose implementation is gone: its balances are there, and nothing reads them',
    async play({ create, call, holder }) {
      const implementation = await create(creationOf('HonestToken', ['Behind', 'BHD', 18]))
      const proxy = await create(creationOf('HollowProxy', [implementation]))
      await call(proxy, callOf('HonestToken', 'mint', [holder, 1_000n]))
      await call(proxy, callOf('HollowProxy', 'point', [nowhere]))
      return proxy
    },
    outcomes: () => [leftOut]
  },
  {
    key: 'destroyed',
    about: 'destroys itself after a mint; where that no longer removes code, it is there as before',
    async play({ create, call, holder }) {
      const token = await create(creationOf('MortalToken', ['Destroyed']))
      await call(token, callOf('HonestToken', 'mint', [holder, 500n]))
      await call(token, callOf('MortalToken', 'end'))
      return token
    },
    outcomes: ({ selfdestructRemovesCode }) => [
      selfdestructRemovesCode ? leftOut : listedToken({ ...mortal, amount: 500n, name: 'Destroyed' })
    ]
  },
  {
    key: 'stillborn',
    about: 'is created, mints and destroys itself in one transaction',
    play: stage => playFactory(stage, 'Stillborn', [{ method: 'createAndEnd', amount: 7n }]),
    outcomes: () => [leftOut]
  },
  {
    key: 'reborn',
    about: 'is destroyed and created again at the same address (CREATE2); only its second life counts',
    play: stage =>
      playFactory(stage, 'Reborn', [
        { method: 'createAndEnd', amount: 7n },
        { method: 'create', amount: 11n }
      ]),
    outcomes: () => [listedToken({ ...mortal, amount: 11n, name: 'Reborn' })]
  },
  {
    key: 'burnt',
    about: 'a sound collection that burnt one of three ids; ownerOf reverts for it',
    async play({ create, call, holder }) {
      const nft = await create(creationOf('HonestNft', ['Burning', 'BRN']))
      for (const id of [1n, 2n, 3n]) await call(nft, callOf('HonestNft', 'mint', [holder, id, '']))
      await call(nft, callOf('HonestNft', 'burn', [2n]))
      return nft
    },
    outcomes: () => [
      {
        nfts: [1n, 3n].map(tokenId => ({
          tokenId,
          balance: 1n,
          isSemiFungible: false,
          tokenUri: '',
          name: 'Burning',
          symbol: 'BRN',
          data: {},
          image: ''
        })),
        incomplete: []
      }
    ]
  },
  {
    key: 'hybrid',
    about: 'ERC-721 and ERC-1155 in one: an id is a unique token and units at once',
    async play({ create, call, holder }) {
      const hybrid = await create(hostileContract('HybridToken').bytecode)
      await call(hybrid, callOf('HybridToken', 'mint', [holder, 5n, 20n]))
      return hybrid
    },
    outcomes: () => [
      {
        nfts: [1n, 20n].map(balance => ({
          tokenId: 5n,
          balance,
          isSemiFungible: balance > 1n,
          tokenUri: 'data:application/json,{}',
          name: 'Hybrid',
          symbol: 'HYB',
          data: {},
          image: ''
        })),
        incomplete: []
      }
    ]
  }
]

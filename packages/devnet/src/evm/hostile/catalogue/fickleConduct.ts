import {
  type HostileNftTruth,
  type HostileToken,
  listedNfts,
  listedToken,
  unreadable
} from '../HostileToken.ts'
import { callOf, creationOf } from '../hostileContract.ts'

const moody = { amount: 1000n, decimals: 0, name: 'Moody', symbol: 'MOOD' }
const moods = ['MoreForMuchGas', 'BurnsMuchGas', 'MoreForHolder', 'BlockNumber', 'Lengths'] as const

const averseNft: HostileNftTruth = {
  tokenId: 1n,
  balance: 1n,
  isSemiFungible: false,
  tokenUri: 'data:application/json,{}',
  name: 'Averse',
  symbol: 'AVS',
  data: {},
  image: ''
}
const moodyNft: HostileNftTruth = { ...averseNft, name: moody.name, symbol: moody.symbol }

function moodyToken(
  key: string,
  about: string,
  mood: (typeof moods)[number],
  outcomes: HostileToken['outcomes']
): HostileToken {
  return {
    key,
    about,
    play: ({ create, holder }) => create(creationOf('MoodyToken', [moods.indexOf(mood), holder])),
    outcomes
  }
}

function deepToken(
  key: string,
  about: string,
  depth: number,
  outcomes: HostileToken['outcomes']
): HostileToken {
  return {
    key,
    about,
    play: ({ create, holder }) => create(creationOf('DeepToken', [holder, depth])),
    outcomes
  }
}

/** Contracts whose answers depend on who asks, when and with how much gas, or that act while they are asked. */
export const fickleConduct: readonly HostileToken[] = [
  moodyToken(
    'more-for-much-gas',
    'shows a fortune to whoever does not limit gas; a service that does sees what there is',
    'MoreForMuchGas',
    () => [listedToken(moody)]
  ),
  moodyToken(
    'burns-much-gas',
    'behaves while gas is short and never ends when there is much, as for a tokenURI',
    'BurnsMuchGas',
    () => [
      {
        token: moody,
        nfts: [{ ...moodyNft, tokenUri: '' }],
        incomplete: [{ tokenId: 1n, reason: 'TOKEN_URI_UNREADABLE' }]
      },
      // A slow node is given less gas than makes it burn.
      { token: moody, nfts: [moodyNft], incomplete: [] }
    ]
  ),
  moodyToken(
    'more-for-holder',
    'shows a fortune to its holder and the truth to everybody else',
    'MoreForHolder',
    () => [listedToken(moody)]
  ),
  moodyToken(
    'block-number',
    'has the height of the block for a balance',
    'BlockNumber',
    ({ blockNumber }) => [listedToken({ ...moody, amount: blockNumber })]
  ),
  moodyToken('many-lengths', 'answers with another length in every block', 'Lengths', () => [
    listedToken(moody)
  ]),
  {
    key: 'averse-token',
    about: 'refuses to be asked by contracts',
    play: ({ create, holder }) => create(creationOf('AverseToken', [holder, false])),
    outcomes: () => [
      listedToken({ amount: 1000n, decimals: 2, name: 'Averse', symbol: 'AVS' }),
      unreadable('BALANCE_UNREADABLE')
    ]
  },
  {
    key: 'averse-collection',
    about: 'a collection that refuses to be asked by contracts',
    play: ({ create, holder }) => create(creationOf('AverseToken', [holder, true])),
    outcomes: () => [listedNfts(averseNft), unreadable('OWNER_UNREADABLE', 1n)]
  },
  {
    key: 'costly-owner-behind-proxy',
    about: 'looks for its owner until the gas is gone; through its proxy that looks like a refusal',
    async play({ create, call, holder }) {
      const implementation = await create(creationOf('CostlyNft'))
      const proxy = await create(creationOf('HollowProxy', [implementation]))
      await call(proxy, callOf('CostlyNft', 'mint', [holder, 1n]))
      return proxy
    },
    outcomes: () => [unreadable('OWNER_UNREADABLE', 1n)]
  },
  deepToken('deep-20', 'finds its answer behind 20 calls', 20, () => [
    listedToken({ amount: 1000n, decimals: 0, name: 'Deep', symbol: 'DEEP' })
  ]),
  deepToken('deep-1000', 'looks for its answer behind 1,000 calls, further than its gas goes', 1000, () => [
    unreadable('BALANCE_UNREADABLE')
  ]),
  {
    key: 'reentrant',
    about: 'calls back whoever asks before it answers',
    play: ({ create, holder }) => create(creationOf('ReentrantToken', [holder])),
    outcomes: () => [listedToken({ amount: 1000n, decimals: 0, name: 'Reentrant', symbol: 'REEN' })]
  }
]

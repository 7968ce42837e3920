import {
  type Answer,
  type ChainOptional,
  type Client,
  type ClientOptions,
  createClient
} from '@chain-data/client'
import * as actions from '@chain-data/client/actions'
import { createClient as createFetchClient } from '@chain-data/client/fetch'
import { createLiveHistory } from '@chain-data/client/history'
import { chainData } from '@chain-data/client/kit'
import { getTransactionsByAddressQuery } from '@chain-data/client/query'
import { chainDataActions } from '@chain-data/client/viem'

/** What not every door has. */
export type Feature = 'signal' | 'onAnswer' | 'batch' | 'watch'

/** What a scenario calls with. */
interface ReadOptions {
  readonly signal?: Pick<AbortSignal, 'aborted' | 'addEventListener' | 'removeEventListener'>
  readonly timeoutMs?: number
  readonly onAnswer?: (answer: Answer) => void
}

/** An entry of the package, ready to be asked. */
export interface Opened {
  /** One call. @returns `[]`, which is what the matrix server has for everyone. */
  readonly read: (options?: ReadOptions) => Promise<unknown>
  /** The same call twice in one request. */
  readonly batch?: () => Promise<unknown>
  /** Events of one address. */
  readonly watch?: (
    options?: Omit<actions.WatchArguments, 'addresses'>
  ) => AsyncGenerator<actions.AddressEvent>
  /** What a program holds: no credential may be found in it. */
  readonly shown: unknown
}

/** One entry of the package. */
export interface Door {
  readonly lacks?: readonly Feature[]
  /** Where its calls go. */
  readonly endpoint: '/evm-chain' | '/solana'
  /** @throws {ConfigurationError} An option cannot work. */
  readonly open: (options: DoorOptions) => Opened
}

type DoorOptions = ClientOptions<'number'> & { readonly chainId: number }

const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
const call = { method: 'svc_getTransactionsByAddress', params: [address] } as const

function clientDoor(create: (options: DoorOptions) => Client<ChainOptional>): Door {
  return {
    endpoint: '/evm-chain',
    open(options) {
      const client = create(options)
      return {
        read: extra => client.getTransactionsByAddress({ address, ...extra }),
        batch: () => client.batch([call, call]),
        watch: extra => actions.watchAddresses(client, { addresses: [address], ...extra }),
        shown: client
      }
    }
  }
}

/** Every entry that sends calls, by its name in the package. */
export const doors: Readonly<Record<string, Door>> = {
  '.': clientDoor(options => createClient(options)),
  './fetch': clientDoor(options => createFetchClient(options)),
  './actions': {
    endpoint: '/evm-chain',
    open(options) {
      const connection = actions.createConnection(options)
      return {
        read: extra => actions.getTransactionsByAddress(connection, { address, ...extra }),
        batch: () => actions.batch(connection, [call, call]),
        watch: extra => actions.watchAddresses(connection, { addresses: [address], ...extra }),
        shown: connection
      }
    }
  },
  './viem': {
    lacks: ['batch', 'watch'],
    endpoint: '/evm-chain',
    open({ chainId, ...options }) {
      const extension = chainDataActions(options)({ chain: { id: chainId } })
      return { read: extra => extension.getTransactionsByAddress({ address, ...extra }), shown: extension }
    }
  },
  './kit': {
    lacks: ['batch', 'watch'],
    endpoint: '/solana',
    open(options) {
      const client = chainData(options)({})
      const accountAddress = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2' as never
      return {
        async read(extra) {
          const { nfts } = await client.chainData.enhancedGetTokensAndNFTs({ accountAddress, ...extra })
          return nfts
        },
        shown: client
      }
    }
  },
  './query': {
    lacks: ['onAnswer', 'batch', 'watch'],
    endpoint: '/evm-chain',
    open(options) {
      const client = createFetchClient(options)
      return {
        read({ signal = new AbortController().signal, timeoutMs } = {}) {
          return getTransactionsByAddressQuery(client, { address, timeoutMs }).queryFn({ signal })
        },
        shown: getTransactionsByAddressQuery(client, { address })
      }
    }
  },
  './history': {
    lacks: ['signal', 'onAnswer', 'batch', 'watch'],
    endpoint: '/evm-chain',
    open({ chainId, ...options }) {
      const list = createLiveHistory(createFetchClient(options), { address, chainId })
      return {
        read: () =>
          new Promise((resolve, reject) => {
            list.subscribe(() => {
              const snapshot = list.getSnapshot()
              if (snapshot.state === 'loading') return
              list.close()
              if (snapshot.state === 'failed') reject(snapshot.error)
              else resolve(snapshot.records)
            })
          }),
        shown: list
      }
    }
  }
}

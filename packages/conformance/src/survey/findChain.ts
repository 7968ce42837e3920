import type { EndpointPath } from '@chain-data/protocol'
import { checkFailure } from '@chain-data/protocol/validators'
import { Broken } from '../checks/verdicts.ts'
import type { Service } from '../wire/createService.ts'
import { someEvmAddress, someSolanaAddress } from './extensions.ts'

/** No EIP-155 id and no cluster: what a service serves it names when it is asked for this one. */
export const unservedChain = 9_007_199_254_740_991

/**
 * The lowest chain that an endpoint serves, as it says itself.
 *
 * @returns `undefined` where it serves none, or does not say.
 * @throws {Broken} It refuses in no form of the document, or the credentials.
 */
export async function findChain(service: Service, endpoint: EndpointPath): Promise<number | undefined> {
  const { exchange, body } = await service.call({
    endpoint,
    ...(endpoint === '/solana'
      ? { method: 'enhancedGetTokensAndNFTs', params: [someSolanaAddress] }
      : { method: 'svc_getTokensAndNFTs', params: [someEvmAddress] }),
    chainId: unservedChain
  })
  if (checkFailure(body) !== undefined) {
    throw new Broken(`${endpoint} does not say which chains it serves, and none is given`, exchange)
  }
  const { data } = (body as { error: { data: Refused } }).error
  if (data.reason === 'UNAUTHENTICATED') {
    throw new Broken('the service does not know this project with this key', exchange)
  }
  return data.supportedChainIds?.[0]
}

interface Refused {
  readonly reason: string
  readonly supportedChainIds?: readonly number[]
}

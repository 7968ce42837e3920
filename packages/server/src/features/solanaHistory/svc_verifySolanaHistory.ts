import { chainOf, type Handlers } from '../../server/methods/MethodContext.ts'
import { requireSolanaAddress, type SolanaHistoriesOptions } from './enhancedGetTransactionsByAddress.ts'
import { shapeCertificate } from './history/shapeCertificate.ts'

/** Answers a certificate of a Solana wallet: the form that `svc_verifyHistory` has on /solana. It reads the whole history. */
export function createVerifySolanaHistory({
  chains,
  maxUnpaged
}: SolanaHistoriesOptions): Handlers['svc_verifySolanaHistory'] {
  return async ([wallet], context) => {
    const { history: reader } = chainOf(chains, context)
    requireSolanaAddress(wallet)
    const { signal, deadlineMs } = context
    const query = { wallet, tokenAccounts: 'all', maxUnpaged, signal, deadlineMs } as const
    return shapeCertificate(wallet, await reader.readHistory(query))
  }
}

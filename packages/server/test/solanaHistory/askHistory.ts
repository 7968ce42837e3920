import { checkResult } from '@chain-data/protocol/validators'
import type { SolanaService } from '../solana/startSolanaService.ts'
import type { TrueTransaction } from './readTruth.ts'

interface Gap {
  readonly account: string
  readonly older?: string
  readonly newer?: string
  readonly post: string
  readonly pre: string
  readonly cause: 'missing' | 'pruned' | 'rent' | 'reward'
}

/** An answer of `enhancedGetTransactionsByAddress`. */
export interface History {
  readonly transactions: readonly (TrueTransaction & { readonly confirmationStatus: string })[]
  readonly covers: {
    readonly fromSlot?: number
    readonly toSlot: number
    readonly reason: 'genesis' | 'pruned' | 'unknown'
    readonly continuity: boolean
    readonly tokenAccounts: number
    readonly late?: readonly { account: string; newest: string; oldest: string }[]
  }
  readonly continuity: { readonly gaps: readonly Gap[] }
}

export interface PageOptions {
  readonly limit?: number
  readonly before?: string
  readonly until?: string
  readonly tokenAccounts?: 'all' | 'none'
}

const method = 'enhancedGetTransactionsByAddress'

/** An answer that is valid by the document, asked again while the host is still reading. @throws when it is another error. */
export async function askHistory(
  service: SolanaService,
  wallet: string,
  page?: PageOptions
): Promise<History> {
  for (;;) {
    const text = await service.call(method, page === undefined ? [wallet] : [wallet, page])
    const { result, error } = JSON.parse(text) as { result?: History; error?: { data?: { reason?: string } } }
    if (error?.data?.reason === 'STILL_READING') continue
    if (result === undefined) throw new Error(`no result: ${text}`)
    const problem = checkResult(method, result)
    if (problem !== undefined) throw new Error(`not valid: ${JSON.stringify(problem)}`)
    return result
  }
}

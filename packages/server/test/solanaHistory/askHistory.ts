import { type MethodName, type SolanaHistoryCertificate, wireName } from '@chain-data/protocol'
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

/** An answer that is valid by the document, asked again while the host is still reading. @throws when it is another error. */
export async function askHistory(
  service: SolanaService,
  wallet: string,
  page?: PageOptions
): Promise<History> {
  const params = page === undefined ? [wallet] : [wallet, page]
  return (await ask(service, 'enhancedGetTransactionsByAddress', params)) as History
}

/** Likewise the answer of `svc_verifyHistory`. */
export async function askCertificate(
  service: SolanaService,
  wallet: string
): Promise<SolanaHistoryCertificate> {
  return (await ask(service, 'svc_verifySolanaHistory', [wallet])) as SolanaHistoryCertificate
}

async function ask(service: SolanaService, method: MethodName, params: readonly unknown[]): Promise<unknown> {
  for (;;) {
    const text = await service.call(wireName(method), params)
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: { data?: { reason?: string } } }
    if (error?.data?.reason === 'STILL_READING') continue
    if (result === undefined) throw new Error(`no result: ${text}`)
    const problem = checkResult(method, result)
    if (problem !== undefined) throw new Error(`not valid: ${JSON.stringify(problem)}`)
    return result
  }
}

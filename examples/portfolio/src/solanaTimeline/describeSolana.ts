import type { SolanaTransaction } from '@chain-data/client/fetch'

/** SOL or a token that the wallet has more or less of after a transaction. */
export interface SolanaMove {
  /** Base units; below zero where it left. Never zero. */
  readonly change: bigint
  readonly decimals: number
  /** Absent: SOL. */
  readonly mint?: string
}

/** What a transaction was for the wallet. */
export interface SolanaDescription {
  readonly deed: 'sent' | 'received' | 'exchanged' | 'unchanged'
  /** SOL first, then by mint. Without the fee where the wallet paid it. */
  readonly moves: readonly SolanaMove[]
  /** Absent where somebody else paid it. */
  readonly feeLamports?: bigint
}

const solDecimals = 9

/** Adds up what a transaction changed, over all token accounts of a mint. @param wallet - Whose history it is of. */
export function describeSolana(
  { fee, feePayer, lamports, tokens }: SolanaTransaction,
  wallet: string
): SolanaDescription {
  const paid = feePayer === wallet ? { feeLamports: BigInt(fee) } : {}
  const sol = lamports === undefined ? 0n : BigInt(lamports.post) - BigInt(lamports.pre)
  const byMint = new Map<string, SolanaMove>()
  for (const { mint, decimals, pre, post } of tokens) {
    const before = byMint.get(mint)?.change ?? 0n
    byMint.set(mint, { mint, decimals, change: before + BigInt(post) - BigInt(pre) })
  }
  const own = { change: sol + (paid.feeLamports ?? 0n), decimals: solDecimals }
  const moves = [own, ...byMint.values()].filter(({ change }) => change !== 0n)
  return { deed: deedOf(moves), moves, ...paid }
}

function deedOf(moves: readonly SolanaMove[]): SolanaDescription['deed'] {
  const comes = moves.some(({ change }) => change > 0n)
  const leaves = moves.some(({ change }) => change < 0n)
  if (comes && leaves) return 'exchanged'
  if (comes) return 'received'
  return leaves ? 'sent' : 'unchanged'
}

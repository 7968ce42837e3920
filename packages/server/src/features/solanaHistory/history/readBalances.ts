import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import type { AddressedAccount, AtSlot } from '../../../nodes/solana/readAnswers.ts'
import type { SolanaRpc } from '../../../nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../nodes/solana/solanaAddress.ts'
import { AccountRefusal } from '../../../solana/accounts/borshReader.ts'
import { readTokenAccount } from '../../../solana/accounts/tokenAccount.ts'
import { readTogether } from '../../../solana/holdings/readOwned.ts'
import type { Balance, WalletBalances } from './checkContinuity.ts'

/**
 * Reads lamports and all token accounts of a wallet, empty ones included, at one slot where the cluster lets it.
 * @throws whatever {@link SolanaRpc} throws.
 * @remarks 3 calls, some more where the cluster moves on in between.
 */
export async function readBalances(
  rpc: SolanaRpc,
  wallet: string,
  options: SolanaCallOptions
): Promise<WalletBalances> {
  const accountsOf = (program: string) => async (minContextSlot?: number) => {
    const answer = await rpc.getTokenAccountsByOwner(wallet, program, { ...options, minContextSlot })
    return { slot: answer.slot, value: answer }
  }
  const { values, newestSlot, oldestSlot } = await readTogether<
    [AtSlot<bigint>, ...AtSlot<readonly AddressedAccount[]>[]]
  >([
    async minContextSlot => {
      const answer = await rpc.getBalance(wallet, { ...options, minContextSlot })
      return { slot: answer.slot, value: answer }
    },
    accountsOf(TOKEN_PROGRAM),
    accountsOf(TOKEN_2022_PROGRAM)
  ])
  const [lamports, ...parts] = values
  const balances = new Map<string, Balance>([[wallet, { amount: `${lamports.value}`, slot: lamports.slot }]])
  const unreadable: string[] = []
  for (const [index, { slot, value: accounts }] of parts.entries()) {
    const program = index === 0 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
    for (const account of accounts) {
      try {
        const { amount, mint } = readTokenAccount(account, program)
        balances.set(account.address, { amount: `${amount}`, mint, slot })
      } catch (error) {
        if (!(error instanceof AccountRefusal)) throw error
        unreadable.push(account.address)
      }
    }
  }
  return { slot: newestSlot, oldestSlot, balances, unreadable }
}

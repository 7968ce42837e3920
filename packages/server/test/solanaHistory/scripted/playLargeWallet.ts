import { createLedger, type Ledger } from './createLedger.ts'
import { memo, mintTokens, openAssociated, transferSol } from './instructions.ts'
import { addressNamed, TOKEN } from './names.ts'
import type { Mint } from './State.ts'

export interface LargeWallet {
  readonly ledger: Ledger
  readonly wallet: string
}

const issuer = addressNamed('issuer of many')
/** Every so many-th transaction is in one block with the one before it. */
const pairEvery = 50

/**
 * A wallet with many token accounts and a long history, most of which names a token account only: what others send.
 *
 * @param size - Token accounts, each of a mint of its own, and transactions.
 */
export function playLargeWallet(size: { tokenAccounts: number; transactions: number }): LargeWallet {
  const wallet = addressNamed(`large wallet ${size.transactions}`)
  const ledger = createLedger(`large ${size.transactions}`, new Map([[issuer, 10n ** 16n]]))
  const mints = Array.from({ length: size.tokenAccounts }, (_, at): Mint => {
    return { address: addressNamed(`mint ${at} of many`), program: TOKEN, decimals: 6, feeBasisPoints: 0n }
  })
  const accountOf = ({ address }: Mint) => addressNamed(`account of ${address} and ${wallet}`)
  for (let at = 0; at < size.transactions; at++) {
    if (at % pairEvery !== 1) ledger.beginBlock(1 + at)
    const mint = mints[at % mints.length]!
    if (at < mints.length) {
      const pay = transferSol(issuer, wallet, 1_000_000n)
      ledger.add({
        payer: issuer,
        instructions: [openAssociated(issuer, accountOf(mint), mint, wallet), pay]
      })
    } else if (at % 20 === 0) {
      ledger.add({ payer: wallet, instructions: [memo(`note ${at}`)] })
    } else {
      ledger.add({ payer: issuer, instructions: [mintTokens(accountOf(mint), mint, issuer, BigInt(at))] })
    }
  }
  return { ledger, wallet }
}

import type { HistoryCertificate } from '@chain-data/protocol'
import { expect } from 'vitest'

const added = ['opening', 'received', 'internalReceived', 'withdrawals', 'rewards', 'tips', 'minted'] as const
const taken = ['sent', 'fees', 'internalSent', 'burned'] as const

/** Checks that the parts of whatever is proven add up to what the chain has. */
export function requireSums({ address, sent, native, complete, covers }: HistoryCertificate): void {
  if (sent.verdict === 'proven') {
    const { opening = '0', transactions, authorizations, creations, birth = 0, count = '0' } = sent
    const total = BigInt(opening) + BigInt(transactions + authorizations + creations + birth)
    expect({ address, nonces: total }).toEqual({ address, nonces: BigInt(count) })
  }
  const { parts, computed, balance } = native
  const sum = (names: readonly (keyof typeof parts)[]) =>
    names.reduce((total, name) => total + BigInt(parts[name] ?? '0'), 0n)
  if (parts.opening !== undefined)
    expect({ address, wei: String(sum(added) - sum(taken)) }).toEqual({ address, wei: computed })
  if (native.verdict === 'proven') expect({ address, computed }).toEqual({ address, computed: balance })
  if (complete === 'proven') expect(covers).not.toHaveProperty('lacks')
}

import { getAddress, HDNodeWallet, id, Mnemonic } from 'ethers'
import type { EvmAccount } from './EvmWorld.ts'

/** The phrase every development node uses: its keys are public, never send anything of value to them. */
export const developmentPhrase = 'test test test test test test test test test test test junk'

const senders = ['deployer', 'alice', 'bob', 'carol', 'dave', 'erin', 'grace', 'heidi', 'ivan', 'judy']
const watchers = ['frank', 'mallory', 'nobody']

/**
 * The cast of the seeded world: ten funded accounts that can send, and some that never do.
 *
 * `nobody` takes part in nothing at all: its history and holdings are proven empty.
 */
export function createEvmAccounts(): Record<string, EvmAccount> {
  const accounts: Record<string, EvmAccount> = {}
  const root = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(developmentPhrase), "m/44'/60'/0'/0")
  for (const [index, name] of senders.entries()) {
    const { address, privateKey } = root.deriveChild(index)
    accounts[name] = { name, address, privateKey, initialBalanceWei: 10_000n * 10n ** 18n }
  }
  for (const name of watchers) {
    const address = getAddress(`0x${id(`chain-data devnet ${name}`).slice(-40)}`)
    accounts[name] = { name, address, initialBalanceWei: 0n }
  }
  return accounts
}

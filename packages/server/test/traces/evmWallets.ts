import { developmentPhrase } from '@chain-data/devnet'
import { HDNodeWallet, Mnemonic, Wallet } from 'ethers'

/** The last accounts of a test node, which it does not need for anything else, with their keys. */
export const evmWallets = [8, 9].map(index => {
  const { privateKey } = HDNodeWallet.fromMnemonic(
    Mnemonic.fromPhrase(developmentPhrase),
    `m/44'/60'/0'/0/${index}`
  )
  return new Wallet(privateKey)
})

import { Wallet } from 'ethers'
import { address, quantity, type Raw } from './rawBlock.ts'

/** Tuples of EIP-7702 transactions on chain 1, as nodes write them; the last one is for another chain. */
export const setCodeTuples: readonly Raw[] = await Promise.all(
  [
    { signer: 1, chainId: 1, nonce: 7 },
    { signer: 1, chainId: 0, nonce: 8 },
    { signer: 2, chainId: 5, nonce: 0 }
  ].map(async ({ signer, chainId, nonce }) => {
    const wallet = new Wallet(`0x${String(signer).repeat(64)}`)
    const { signature } = await wallet.authorize({ address: address(9), chainId, nonce })
    return {
      chainId: quantity(chainId),
      address: address(9),
      nonce: quantity(nonce),
      yParity: quantity(signature.yParity),
      r: quantity(BigInt(signature.r)),
      s: quantity(BigInt(signature.s))
    }
  })
)

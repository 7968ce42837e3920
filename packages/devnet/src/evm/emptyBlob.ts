import { concat, dataSlice, sha256 } from 'ethers'

/** The point at infinity of BLS12-381: commitment and proof of a blob of zeros, so no trusted setup is needed. */
const infinity = concat(['0xc0', new Uint8Array(47)])

/** A blob of zeros with everything a type 3 transaction must say about it. @see EIP-4844 */
export const emptyBlob = {
  blob: { data: `0x${'00'.repeat(131_072)}`, commitment: infinity, proof: infinity },
  versionedHash: concat(['0x01', dataSlice(sha256(infinity), 1)])
}

/** Gas of one blob, always used up in full. */
export const gasPerBlob = 131_072n

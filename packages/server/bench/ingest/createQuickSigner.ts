import { keccak256, Signature, SigningKey, Transaction, toBeHex, toUtf8Bytes } from 'ethers'

/** The order of secp256k1's group. @see https://www.secg.org/sec2-v2.pdf (2.4.1) */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** What has to be known of a secret number to sign with it. */
interface Nonce {
  readonly inverse: bigint
  readonly r: bigint
  readonly isOdd: boolean
}

/** Signs a transaction of these fields with a private key (32 bytes, 0x-hex). @returns the bytes to send, 0x-hex. */
export type QuickSigner = (
  privateKey: string,
  fields: Parameters<typeof Transaction.from>[0] & object
) => string

/**
 * Valid signatures for a chain that guards nothing.
 * @remarks Secret numbers are drawn ahead and used again and again, which gives the keys away and saves the one costly
 *   step of each signature: most of the time that hundreds of thousands of transactions would take.
 */
export function createQuickSigner(count = 256): QuickSigner {
  const nonces = Array.from({ length: count }, (_, index) => drawNonce(`nonce ${index}`))
  let next = 0
  return (privateKey, fields) => {
    const transaction = Transaction.from(fields)
    const { inverse, r, isOdd } = nonces[next++ % count] as Nonce
    const s = (inverse * ((BigInt(transaction.unsignedHash) + r * BigInt(privateKey)) % order)) % order
    // Of the two solutions only the lower one is taken. @see EIP-2
    const isHigh = s > order / 2n
    transaction.signature = Signature.from({
      r: toBeHex(r, 32),
      s: toBeHex(isHigh ? order - s : s, 32),
      yParity: isOdd === isHigh ? 0 : 1
    })
    return transaction.serialized
  }
}

function drawNonce(name: string): Nonce {
  const secret = keccak256(toUtf8Bytes(name))
  // 04, x, y.
  const point = SigningKey.computePublicKey(secret, false)
  const isOdd = BigInt(`0x${point.slice(-64)}`) % 2n === 1n
  return { inverse: invert(BigInt(secret)), r: BigInt(`0x${point.slice(4, 68)}`) % order, isOdd }
}

/** By Fermat: the order is a prime. */
function invert(value: bigint): bigint {
  let power = 1n
  let square = value % order
  for (let exponent = order - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent % 2n === 1n) power = (power * square) % order
    square = (square * square) % order
  }
  return power
}

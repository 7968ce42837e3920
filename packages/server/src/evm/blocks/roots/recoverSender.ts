import type { Secp256k1 } from '@bitauth/libauth'
import type { Address } from '@chain-data/index'
import { toHex } from '@chain-data/index/record'
import { keccak256 } from '../../../platform/keccak256.ts'
import type { SignedPart } from './encodeTransaction.ts'

/** @returns the address that signed the hash of the message; `undefined` where nobody can have: the signature is not one. */
export type RecoverSender = (signed: SignedPart) => Address | undefined

let loaded: Promise<RecoverSender> | undefined

/**
 * Loads libsecp256k1 (as WebAssembly) at the first call: few processes need it. Its file is named, because the package's own
 * entry also loads all else of the library, 30 MB in each thread.
 */
export function loadRecoverSender(): Promise<RecoverSender> {
  loaded ??= import('@bitauth/libauth/build/lib/crypto/secp256k1.js').then(async ({ instantiateSecp256k1 }) =>
    createRecoverSender(await instantiateSecp256k1())
  )
  return loaded
}

function createRecoverSender(secp256k1: Secp256k1): RecoverSender {
  return ({ message, parity, r, s }) => {
    if (parity !== 0 && parity !== 1) return undefined
    const key = secp256k1.recoverPublicKeyUncompressed(wordsOf(r, s), parity, keccak256(message))
    return typeof key === 'string' ? undefined : toHex(keccak256(key.subarray(1)).subarray(12))
  }
}

function wordsOf(r: bigint, s: bigint): Uint8Array {
  return Buffer.from(r.toString(16).padStart(64, '0') + s.toString(16).padStart(64, '0'), 'hex')
}

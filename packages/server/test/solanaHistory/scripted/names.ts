import { createHash } from 'node:crypto'
import { getBase58Codec } from '@solana/kit'

const base58 = getBase58Codec()

/** Text of bytes as addresses, signatures and instruction data are written. */
export const toBase58 = (bytes: Uint8Array): string => base58.decode(bytes)

/** The bytes of such a text. */
export const fromBase58 = (text: string): Uint8Array => new Uint8Array(base58.encode(text))

/** An address by a name, the same on every run. */
export const addressNamed = (name: string): string => toBase58(createHash('sha256').update(name).digest())

/** A signature by a name. */
export const signatureNamed = (name: string): string => toBase58(createHash('sha512').update(name).digest())

export const SYSTEM = '11111111111111111111111111111111'
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
export const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'
export const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

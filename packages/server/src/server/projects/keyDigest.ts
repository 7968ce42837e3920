import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const scheme = 'hmac-sha256'
const digestPattern = /^hmac-sha256:([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})$/

/** The digest of a key: enough to recognise it, too little to use it. */
export interface KeyDigest {
  readonly salt: Buffer
  readonly digest: Buffer
}

/**
 * Makes a key of 256 random bits, base64url.
 *
 * @remarks Keys are this long so that one fast hash protects them; a slow one on every request would be a way to
 *   bring the server down.
 */
export function createKey(): string {
  return randomBytes(32).toString('base64url')
}

/** Computes HMAC-SHA-256 of a key under a salt of its own. */
export function digestKey(key: string): KeyDigest {
  const salt = randomBytes(16)
  return { salt, digest: hmac(salt, key) }
}

/** Writes the digest as a configuration has it. */
export function formatKeyDigest({ salt, digest }: KeyDigest): string {
  return `${scheme}:${salt.toString('base64url')}:${digest.toString('base64url')}`
}

/** Returns whether a configured key has the form of `formatKeyDigest`; anything else is a key in plain text. */
export function isKeyDigest(configured: string): boolean {
  return digestPattern.test(configured)
}

/** Reads a configured key: a digest in the form of `formatKeyDigest`, or else plain text, which is digested here. */
export function readConfiguredKey(configured: string): KeyDigest {
  const match = digestPattern.exec(configured)
  if (!match) return digestKey(configured)
  const [, salt = '', digest = ''] = match
  return { salt: Buffer.from(salt, 'base64url'), digest: Buffer.from(digest, 'base64url') }
}

/**
 * The public name of a configured digest: 8 hex digits, the same wherever the digest is. They reveal nothing of the key.
 *
 * @returns `undefined` for a key in plain text: a hash of it without salt would help to guess it.
 */
export function keyIdOf(configured: string): string | undefined {
  if (!isKeyDigest(configured)) return undefined
  return createHash('sha256').update(configured).digest('hex').slice(0, 8)
}

/** Returns whether `key` is the digested one; takes the same time wherever they differ. */
export function matchesKey({ salt, digest }: KeyDigest, key: string): boolean {
  return timingSafeEqual(hmac(salt, key), digest)
}

function hmac(salt: Buffer, key: string): Buffer {
  return createHmac('sha256', salt).update(key, 'utf8').digest()
}

import { inspect } from 'node:util'
import { expect } from 'vitest'

/** The key, and every form in which it travels or hides. */
function formsOf(serverKey: string): string[] {
  const pair = `demo:${serverKey}`
  const bytes = Buffer.from(serverKey, 'utf8')
  return [
    serverKey,
    Buffer.from(pair, 'utf8').toString('base64'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('hex'),
    encodeURIComponent(serverKey)
  ]
}

/** Fails when a text, or whatever can be seen of a thrown value, holds the key. */
export function expectNoSecret(value: unknown, serverKey: string): void {
  const seen =
    typeof value === 'string'
      ? value
      : [
          inspect(value, { depth: Infinity, showHidden: true, getters: true }),
          JSON.stringify(value),
          String(value),
          value instanceof Error ? `${value.stack} ${inspect(value.cause)}` : ''
        ].join('\n')
  for (const form of formsOf(serverKey)) expect(seen.includes(form), 'holds a key').toBe(false)
}

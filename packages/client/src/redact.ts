const replacement = '[redacted]'
// A server's error data is a few levels deep; a hostile one must not exhaust the stack.
const deepestLevel = 64
// Blanking out something shorter would only mangle ordinary words.
const shortestSecret = 4

/** Copies a JSON value with every secret in its texts and member names blanked out. */
export type Redact = <T>(value: T) => T

/**
 * For what a server, or something between, sent back: some of them echo the request and its headers.
 *
 * @param secrets - Texts of fewer than four characters are not looked for.
 * @remarks Values nested deeper than 64 levels are left out.
 */
export function createRedactor(secrets: readonly string[]): Redact {
  const sought = secrets.filter(secret => secret.length >= shortestSecret)

  function redactText(text: string): string {
    return sought.reduce((rest, secret) => rest.replaceAll(secret, replacement), text)
  }

  function redact(value: unknown, level: number): unknown {
    if (typeof value === 'string') return redactText(value)
    if (typeof value !== 'object' || value === null) return value
    if (level > deepestLevel) return undefined
    if (Array.isArray(value)) return value.map(item => redact(item, level + 1))
    const members = Object.entries(value).map(([name, member]) => [
      redactText(name),
      redact(member, level + 1)
    ])
    return Object.fromEntries(members)
  }

  return <T>(value: T) => redact(value, 0) as T
}

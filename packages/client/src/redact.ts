const replacement = '[redacted]'
// Blanking out something shorter would only mangle ordinary words.
const shortestSecret = 4

/**
 * Copies a JSON value with every secret in its texts and member names blanked out: for what a server, or something
 * between, sent back. Some of them echo the request and its headers.
 *
 * @param secrets - Texts of fewer than four characters are not looked for.
 * @returns `'[redacted]'` as a whole for what cannot be copied: nested too deep, or a secret that is a number.
 */
export function redact(value: unknown, secrets: readonly string[]): unknown {
  if (value === undefined) return undefined
  try {
    // Secret and value are written by the same function, so that escapes look alike.
    const text = secrets
      .filter(secret => secret.length >= shortestSecret)
      .reduce(
        (rest, secret) => rest.split(JSON.stringify(secret).slice(1, -1)).join(replacement),
        JSON.stringify(value)
      )
    return JSON.parse(text)
  } catch {
    return replacement
  }
}

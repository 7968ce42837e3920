import type { Exchange } from '../wire/Exchange.ts'

/** Most characters of a body in a report. */
const longestBody = 2_000

const hidden = '***'

/**
 * An exchange as it may be shown: no credentials, wherever they stand, and bodies cut.
 *
 * @param secrets - Texts that must not be seen.
 */
export function hideSecrets({ sent, received }: Exchange, secrets: readonly string[]): Exchange {
  const clean = (text: string) => cut(secrets.reduce((all, secret) => all.replaceAll(secret, hidden), text))
  const headers = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, clean(value)]))
  const { authorization, ...others } = sent.headers
  return {
    sent: {
      ...sent,
      headers: { ...headers(others), ...(authorization === undefined ? {} : { authorization: hidden }) },
      ...(sent.body === undefined ? {} : { body: clean(sent.body) })
    },
    received: { ...received, headers: headers(received.headers), text: clean(received.text) }
  }
}

function cut(text: string): string {
  if (text.length <= longestBody) return text
  return `${text.slice(0, longestBody)}… (${text.length} characters)`
}

/** Shorter parts of a URL are words such as `v2` or `rpc`, which messages may well be about. */
const shortestSecret = 8

/**
 * Makes a function that takes out of a text whatever in `url` may be a key: user information, its Authorization value,
 * segments of the path, values of the query. For words of a node that quote what it was sent.
 *
 * @param url - any; one that cannot be parsed hides nothing.
 */
export function createSecretHider(url: string): (text: string) => string {
  const secrets = URL.canParse(url) ? secretsOf(new URL(url)) : []
  // The longest first: one may be a part of another.
  secrets.sort((a, b) => b.length - a.length)
  return text => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text)
}

function secretsOf({ username, password, pathname, searchParams, search, hash }: URL): string[] {
  const [user, key] = [decoded(username), decoded(password)]
  const pair = Buffer.from(`${user}:${key}`, 'utf8').toString('base64').replace(/=+$/, '')
  const parts = [
    ...pathname.split('/'),
    ...search.slice(1).split(/[&=]/),
    ...searchParams.values(),
    hash.slice(1)
  ].filter(part => part.length >= shortestSecret)
  // A password is one however short it is, but a single letter would take texts apart.
  const credentials = [username, user, password, key].filter(part => part.length > 2)
  return [...new Set([...credentials, ...(user + key === '' ? [] : [pair]), ...parts, ...parts.map(decoded)])]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

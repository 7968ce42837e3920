import type { LogFields, Logger } from './logger.ts'

/** Shorter parts of a URL are words such as `v2` or `rpc`, which messages may well be about. */
const shortestSecret = 8

/**
 * Makes a function that takes out of a text whatever in `url` may be a key: user information, its Authorization value,
 * segments of the path, values of the query. For words of a node that quote what it was sent.
 *
 * @param url - any; one that cannot be parsed hides nothing.
 * @param headerValues - of headers that are sent too: hidden whole, and without a scheme such as `Bearer`.
 */
export function createSecretHider(
  url: string,
  headerValues: readonly string[] = []
): (text: string) => string {
  const secrets = URL.canParse(url) ? secretsOf(new URL(url)) : []
  secrets.push(...headerValues.flatMap(value => [value, ...value.split(/\s+/)]).filter(isSecret))
  // The longest first: one may be a part of another.
  secrets.sort((a, b) => b.length - a.length)
  return text => secrets.reduce((rest, secret) => rest.replaceAll(secret, '[removed]'), text)
}

/** A secret is one however short it is, but a single letter would take texts apart. */
const isSecret = (part: string) => part.length > 2

function secretsOf({ username, password, pathname, searchParams, search, hash }: URL): string[] {
  const [user, key] = [decoded(username), decoded(password)]
  const pair = Buffer.from(`${user}:${key}`, 'utf8').toString('base64').replace(/=+$/, '')
  const parts = [
    ...pathname.split('/'),
    ...search.slice(1).split(/[&=]/),
    ...searchParams.values(),
    hash.slice(1)
  ].filter(part => part.length >= shortestSecret)
  const credentials = [username, user, password, key].filter(isSecret)
  return [...new Set([...credentials, ...(user + key === '' ? [] : [pair]), ...parts, ...parts.map(decoded)])]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Query members that drivers read passwords from. */
const secretMembers = ['password', 'sslpassword']

/**
 * Makes a function that takes the passwords of database URLs out of a text. Only those: user, host and database are what an
 * operator has to read in a message.
 *
 * @returns `undefined` where no URL has a password.
 */
export function createPasswordHider(urls: readonly string[]): ((text: string) => string) | undefined {
  const hiders = urls
    .filter(url => URL.canParse(url))
    .flatMap(url => {
      const { password, searchParams } = new URL(url)
      const others = secretMembers.flatMap(name => searchParams.get(name) ?? []).map(encodeURIComponent)
      return [password, ...others]
        .filter(secret => secret !== '')
        .map(secret => createSecretHider(`postgres://:${secret}@host`))
    })
  return hiders.length === 0 ? undefined : text => hiders.reduce((rest, hide) => hide(rest), text)
}

/** A logger whose lines went through `hide`, those of errors and their causes included. */
export function hidingLogger(logger: Logger, hide: (text: string) => string): Logger {
  const clean = (fields: LogFields): LogFields =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, hideIn(value, hide)]))
  const at =
    (severity: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields?: LogFields): void =>
      logger[severity](hide(message), ...(fields === undefined ? [] : [clean(fields)]))
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: fields => hidingLogger(logger.child(clean(fields)), hide)
  }
}

function hideIn(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value)
  if (!(value instanceof Error)) return value
  const texts = [value.message, value.stack ?? '']
  const cause = hideIn(value.cause, hide)
  if (texts.every(text => hide(text) === text) && cause === value.cause) return value
  const hidden = new Error(hide(value.message), cause === undefined ? {} : { cause })
  return Object.assign(hidden, { name: value.name, stack: hide(value.stack ?? '') })
}

import { createSecretHider } from '../../platform/createSecretHider.ts'
import type { LogFields, Logger } from '../../platform/logger.ts'

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

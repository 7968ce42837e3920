import { ConfigError } from '../platform/errors.ts'

/** Where the configuration wants the index kept. */
export type StoreLocation =
  /** One file per chain in `folder`, created when missing. */
  | { readonly kind: 'sqlite'; readonly folder: string }
  /** Gone with the process; the caller gives it a temporary folder. */
  | { readonly kind: 'memory' }
  /** `url` may hold a password: never log it. */
  | { readonly kind: 'postgres'; readonly url: string }

const expected = 'expected sqlite:<folder>, sqlite::memory: or postgres://<user>@<host>/<database>'

/**
 * Reads the `store` setting.
 * @throws {ConfigError} it is none of the known forms. The message names the scheme only: what follows it may hold a
 *   password.
 */
export function parseStoreUrl(url: string): StoreLocation {
  if (url === 'sqlite::memory:') return { kind: 'memory' }
  if (url.startsWith('sqlite:')) return parseSqliteUrl(url.slice('sqlite:'.length))
  if (/^postgres(ql)?:\/\//.test(url)) return parsePostgresUrl(url)
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(url)?.[0]
  const seen = scheme === undefined ? 'a value without a scheme' : `the scheme "${scheme.slice(0, 32)}"`
  throw new ConfigError(`store: ${seen} is not known; ${expected}`)
}

function parseSqliteUrl(folder: string): StoreLocation {
  if (folder === '') throw new ConfigError(`store: "sqlite:" names no folder; ${expected}`)
  if (folder.startsWith('//')) {
    throw new ConfigError(
      `store: "sqlite:${folder}" looks like a URL; write the folder right after the colon, as in sqlite:./chain-data`
    )
  }
  if (folder.startsWith(':')) throw new ConfigError(`store: "sqlite:${folder}" is not known; ${expected}`)
  return { kind: 'sqlite', folder }
}

function parsePostgresUrl(url: string): StoreLocation {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.pathname.length < 2) {
    throw new ConfigError(`store: the postgres URL names no host or no database; ${expected}`)
  }
  return { kind: 'postgres', url }
}

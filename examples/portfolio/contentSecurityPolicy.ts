/** What the page may load, for the service and the hosts that its settings name. */
export interface PolicySources {
  /** As in `VITE_CHAIN_DATA_URL`: absolute, or a path on the page's own origin. */
  readonly serviceUrl: string
  /** Origins beside https that pictures may come from. */
  readonly imageOrigins: readonly string[]
}

/**
 * The Content-Security-Policy of the page: nothing but its own files, calls to the one service, and pictures.
 *
 * @remarks Scripts run from files only and text never becomes markup (`require-trusted-types-for`), so that a name
 *   from a chain stays a name even where the page has a bug.
 */
export function contentSecurityPolicy({ serviceUrl, imageOrigins }: PolicySources): string {
  const service = URL.canParse(serviceUrl) ? new URL(serviceUrl).origin : "'self'"
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${["'self'", 'https:', 'data:', ...imageOrigins].join(' ')}`,
    `connect-src ${service}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; ')
}

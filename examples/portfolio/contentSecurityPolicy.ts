/** What the page may load, for the service and the hosts that its settings name. */
export interface PolicySources {
  /** As in `VITE_CHAIN_DATA_URL`: absolute, or a path on the page's own origin. */
  readonly serviceUrl: string
  /** Origins beside https that pictures may come from. */
  readonly imageOrigins: readonly string[]
}

/**
 * The Content-Security-Policy of the built page: nothing but its own files, calls to the one service, and pictures.
 *
 * @remarks Scripts run from files only and text never becomes markup (`require-trusted-types-for`), so that a name
 *   from a chain stays a name even where the page has a bug.
 */
export function contentSecurityPolicy(sources: PolicySources): string {
  return [
    ...common(sources),
    "script-src 'self'",
    "style-src 'self'",
    `connect-src ${service(sources)}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; ')
}

/** While developing: hot reload needs scripts and styles inside the page, and a socket. */
export function developmentPolicy(sources: PolicySources): string {
  return [
    ...common(sources),
    "script-src 'self' 'unsafe-inline'",
    "style-src 'self' 'unsafe-inline'",
    `connect-src ${service(sources)} 'self' ws:`
  ].join('; ')
}

function common({ imageOrigins }: PolicySources): string[] {
  return [
    "default-src 'none'",
    `img-src ${["'self'", 'https:', 'data:', ...imageOrigins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'"
  ]
}

function service({ serviceUrl }: PolicySources): string {
  return URL.canParse(serviceUrl) ? new URL(serviceUrl).origin : "'self'"
}

/**
 * Whether a request comes from a page of the host itself. Browsers send `Sec-Fetch-Site`, which no page can set; older
 * ones the `Origin`. A request with neither comes from no page.
 *
 * @param header - Value of a request header by its lower-case name; repeated ones joined.
 * @param origins - Also the host's own.
 */
export function isOwnPage(
  header: (name: string) => string | undefined,
  origins: ReadonlySet<string>
): boolean {
  const origin = header('origin')
  if (origin !== undefined && origins.has(origin)) return true
  const site = header('sec-fetch-site')
  // `none`: typed, or opened from a bookmark.
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // The scheme that the browser sees is unknown here: TLS may end in front of the host.
  // HTTP/2 names the host in another place.
  const named = header('host') ?? header(':authority')
  return /^https?:$/.test(protocol) && host === withoutDefaultPort(named, protocol)
}

function withoutDefaultPort(host: string | undefined, protocol: string): string | undefined {
  return host?.toLowerCase().replace(protocol === 'https:' ? /:443$/ : /:80$/, '')
}

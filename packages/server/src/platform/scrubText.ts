/**
 * Path, query and user information of a URL may hold a provider's key, so only scheme and host stay. The scheme's
 * length is bounded, or a long text of word after word would take time quadratic in its length.
 */
const urlPattern = /\b([a-z][a-z0-9+.-]{0,40}:\/\/)(?:[^\s/?#"'<>]*@)?([^\s/?#"'<>]*)([/?#][^\s"'<>]*)?/gi
/** What stands before an unescaped `/`, `?` or `#` of a password looks like a host with a strange port. */
const hostPattern = /^(?:\[[0-9a-f:.]*\]|[^:]*)(?::\d{0,5})?$/i
const credentialsPattern = /\b(Basic|Bearer)\s+[A-Za-z0-9+/=._~-]+/gi

/**
 * Makes a text safe for a log line or a wire message: URLs keep only their scheme and host, credentials of an
 * Authorization header disappear, and the text is cut at `longest` characters.
 */
export function scrubText(text: string, longest: number): string {
  // Module URLs in a stack name source files, which is what a stack is for.
  const scrubbed = text
    .replace(urlPattern, (whole, scheme: string, host: string) =>
      scheme === 'file://' || scheme === 'node://' ? whole : scheme + (hostPattern.test(host) ? host : '')
    )
    .replace(credentialsPattern, '$1 [removed]')
  return scrubbed.length <= longest ? scrubbed : `${scrubbed.slice(0, longest)}…`
}

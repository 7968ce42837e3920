/** Path, query and user information of a URL may hold a provider's key, so only scheme and host stay. */
const urlPattern = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#"'<>@]*@)?([^\s/?#"'<>]*)([/?#][^\s"'<>]*)?/gi
const credentialsPattern = /\b(Basic|Bearer)\s+[A-Za-z0-9+/=._~-]+/gi

/**
 * Makes a text safe for a log line or a wire message: URLs keep only their scheme and host, credentials of an
 * Authorization header disappear, and the text is cut at `longest` characters.
 */
export function scrubText(text: string, longest: number): string {
  // Module URLs in a stack name source files, which is what a stack is for.
  const scrubbed = text
    .replace(urlPattern, (whole, scheme: string, host: string) =>
      scheme === 'file://' || scheme === 'node://' ? whole : `${scheme}${host}`
    )
    .replace(credentialsPattern, '$1 [removed]')
  return scrubbed.length <= longest ? scrubbed : `${scrubbed.slice(0, longest)}…`
}

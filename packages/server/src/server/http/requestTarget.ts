const targetPattern = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i

/**
 * Path and query of a request line's target: `/path?query`, or a proxy's absolute form, which names the host as well.
 *
 * @returns The path as it was sent; `/` where an absolute form has none. It is not resolved the way a browser does
 *   (`..`, `//host`, `\`), or a gateway in front, which judges the text, and this server would see two different paths.
 */
export function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const [, path = '', query = ''] = targetPattern.exec(target) ?? []
  return { path: path === '' ? '/' : path, query: new URLSearchParams(query) }
}

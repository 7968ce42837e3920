/** One answer of the metadata server. */
export interface MetadataDocument {
  status: number
  contentType: string
  body: string | Uint8Array
}

/** Somewhere seeders put the documents their URIs point to. */
export interface MetadataHost {
  /** Origin without a trailing slash. */
  readonly url: string
  /** Publishes a document below the origin. @returns Its absolute URL. */
  put(path: string, document: MetadataDocument): string
}

/** Publishes a JSON value. @returns Its absolute URL. */
export function putJson(host: MetadataHost, path: string, value: unknown): string {
  return host.put(path, { status: 200, contentType: 'application/json', body: JSON.stringify(value) })
}

/** Publishes a small picture as SVG. @returns Its absolute URL. */
export function putImage(host: MetadataHost, path: string, label: string): string {
  return host.put(path, { status: 200, contentType: 'image/svg+xml', body: svgImage(label) })
}

/** A picture with a label; the label may hold nothing that XML would read as markup. */
export function svgImage(label: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><text x="4" y="36">${label}</text></svg>`
}

/**
 * A host that serves nothing: for worlds whose metadata is of no interest.
 *
 * Its origin ends in `.invalid`, which by RFC 2606 never resolves: the documents of such a world say what would be
 * there.
 */
export function createUnservedMetadata(): MetadataHost {
  const url = 'http://metadata.invalid'
  return { url, put: path => url + path }
}

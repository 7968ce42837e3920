import { checkUrl } from './checkUrl.ts'
import { mediaTypeOf } from './dataUri.ts'
import type { JsonObject } from './readJsonObject.ts'
import { type Gateways, resolveUri } from './resolveUri.ts'

export interface ImageOptions {
  readonly gateways: Gateways
  /** Hosts whose images are passed on although plain http or private; see `readAllowHosts`. */
  readonly allowHosts: ReadonlySet<string>
  /** ERC-1155 only: replaces `{id}`. */
  readonly tokenId?: bigint
}

/**
 * The picture that a metadata object names, in a form that a wallet can show: an https URL, or a `data:image/` URI.
 *
 * Read from `image`, which may be an object with `url` or `uri`, then `image_url`, `imageUrl`, and `image_data` (which is SVG text
 * as a rule); the first one of use counts.
 * @returns "" where there is none. A plain http URL only for a host in `allowHosts`. The picture itself is not fetched.
 */
export function imageOf(data: JsonObject, options: ImageOptions): string {
  const own = (object: object, key: string): unknown =>
    Object.hasOwn(object, key) ? Reflect.get(object, key) : undefined
  for (const key of ['image', 'image_url', 'imageUrl', 'image_data']) {
    const value = own(data, key)
    const isObject = typeof value === 'object' && value !== null
    for (const written of isObject ? [own(value, 'url'), own(value, 'uri')] : [value]) {
      const image = typeof written === 'string' ? resolveImage(written, options) : ''
      if (image !== '') return image
    }
  }
  return ''
}

/** As `imageOf`, for a single text. */
export function resolveImage(uri: string, options: ImageOptions): string {
  const text = uri.trim()
  if (/^<(svg|\?xml)[\s>]/i.test(text)) {
    return `data:image/svg+xml;base64,${Buffer.from(text, 'utf8').toString('base64')}`
  }
  if (/^data:/i.test(text)) return mediaTypeOf(text)?.startsWith('image/') === true ? text : ''
  const { gateways, allowHosts, tokenId } = options
  const resolved = resolveUri(text, gateways, tokenId === undefined ? {} : { tokenId })
  if (resolved.kind !== 'remote') return ''
  // A plain http gateway is no use to a wallet, a configured one may be.
  return resolved.urls.map(url => presentableUrl(url, allowHosts)).find(url => url !== '') ?? ''
}

/** Wallets load what we name, from inside their users' networks: so the rules of the guarded fetch hold here too. */
function presentableUrl(text: string, allowHosts: ReadonlySet<string>): string {
  try {
    const { url, allowed } = checkUrl(text, allowHosts)
    return url.protocol === 'https:' || allowed ? url.href : ''
  } catch {
    return ''
  }
}

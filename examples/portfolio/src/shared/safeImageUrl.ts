/** Pictures as pixels. SVG is a document that may hold scripts and links: no stranger's is taken from inside an answer. */
const rasterData = /^data:image\/(png|jpe?g|gif|webp|avif);base64,[A-Za-z0-9+/]+=*$/

/** Larger ones are left out: they come with the answer and stay in memory. */
const mostDataCharacters = 1_000_000

/**
 * The address a picture may be loaded from.
 *
 * @param image - As the service gives it; ipfs and ar are resolved by the service.
 * @param imageOrigins - Origins that may be used beside https.
 * @returns Nothing for everything else: scripts, plain http, SVG in data URIs, addresses with a password.
 */
export function safeImageUrl(image: string, imageOrigins: readonly string[]): string | undefined {
  if (image.startsWith('data:')) {
    return image.length <= mostDataCharacters && rasterData.test(image) ? image : undefined
  }
  if (!URL.canParse(image)) return undefined
  const url = new URL(image)
  if (url.username !== '' || url.password !== '') return undefined
  // The origin of a blob is that of the page it is from.
  const isNamed = url.protocol === 'http:' && imageOrigins.includes(url.origin)
  return url.protocol === 'https:' || isNamed ? url.href : undefined
}

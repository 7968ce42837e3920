const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The text of exactly these bytes.
 *
 * @returns `undefined` when they are not UTF-8: replacement characters would make different keys, or ids, alike.
 */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    return undefined
  }
}

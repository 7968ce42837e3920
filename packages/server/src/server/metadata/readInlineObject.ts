import { gunzipSync } from 'node:zlib'
import type { InlineContent } from './dataUri.ts'
import { metadataFailure } from './metadataFailure.ts'
import { type JsonObject, readJsonObject } from './readJsonObject.ts'
import { weighObject } from './weighObject.ts'

/** As large as a fetched document may be once it is unpacked (spec/openrpc.json, x-limits). */
const maxUnpackedBytes = 2 * 1024 * 1024

/** Metadata that a URI held itself. */
export interface InlineObject {
  readonly data: JsonObject
  /** See `weighObject`. */
  readonly weight: number
}

/**
 * Reads the object inside a `data:` URI. Some contracts store it gzipped to save gas and say so in ways of their own; the
 * first bytes tell, since no JSON begins like that.
 * @throws {MetadataError} ENCODING: does not unpack to at most 2 MiB; TOO_LARGE: over 2 MiB; CONTENT: as `readJsonObject`.
 */
export function readInlineObject({ bytes, charset }: InlineContent): InlineObject {
  const text = bytes[0] === 0x1f && bytes[1] === 0x8b ? unpack(bytes) : bytes
  // Ids put into a URI can make it many times as long as it is on chain.
  if (text.length > maxUnpackedBytes)
    throw metadataFailure('TOO_LARGE', `Object of over ${maxUnpackedBytes} bytes`)
  const data = readJsonObject(text, charset)
  return { data, weight: weighObject(data, text.length) }
}

function unpack(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes })
  } catch (cause) {
    throw metadataFailure(
      'ENCODING',
      `gzip that does not unpack to at most ${maxUnpackedBytes} bytes`,
      undefined,
      {
        cause
      }
    )
  }
}

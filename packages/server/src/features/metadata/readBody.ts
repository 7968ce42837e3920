import type { IncomingMessage } from 'node:http'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createInflate } from 'node:zlib'
import { MetadataError } from '../../platform/errors.ts'
import { metadataFailure } from './metadataFailure.ts'

export interface BodyLimits {
  /** Body bytes as they arrive. */
  readonly wireBytes: number
  /** Body bytes after Content-Encoding is undone. */
  readonly decodedBytes: number
}

/**
 * Reads a response body whole, counting what arrives and what it unpacks to separately: a small body that unpacks to
 * a large one is cut off as soon as it passes the limit.
 * @throws {MetadataError} TOO_LARGE; ENCODING: unknown, stacked or broken.
 * @throws whatever the connection throws when the body is cut short.
 */
export async function readBody(response: IncomingMessage, limits: BodyLimits): Promise<Uint8Array> {
  const announced = Number(response.headers['content-length'] ?? 0)
  if (announced > limits.wireBytes) throw metadataFailure('TOO_LARGE', `Body of ${announced} bytes announced`)

  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase()
  const wire = atMost(response as AsyncIterable<Buffer>, limits.wireBytes, 'as it arrives')
  if (encoding === '' || encoding === 'identity') return collect(wire, limits.decodedBytes)

  const decoder = createDecoder(encoding)
  let body: Uint8Array = Buffer.alloc(0)
  try {
    await pipeline(wire, decoder, async (unpacked: AsyncIterable<Buffer>) => {
      body = await collect(unpacked, limits.decodedBytes)
    })
  } catch (error) {
    if (error instanceof MetadataError) throw error
    throw metadataFailure('ENCODING', 'Body does not unpack', undefined, { cause: error })
  }
  return body
}

async function collect(chunks: AsyncIterable<Buffer>, limit: number): Promise<Uint8Array> {
  const kept: Buffer[] = []
  for await (const chunk of atMost(chunks, limit, 'unpacked')) kept.push(chunk)
  return Buffer.concat(kept)
}

async function* atMost(chunks: AsyncIterable<Buffer>, limit: number, when: string): AsyncIterable<Buffer> {
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    if (length > limit) throw metadataFailure('TOO_LARGE', `Body over ${limit} bytes ${when}`)
    yield chunk
  }
}

/** Not brotli: a stream of a few bytes may claim a window of 16 MiB, and its decoder takes that. Deflate has 32 KiB. */
function createDecoder(encoding: string): Transform {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    default:
      throw metadataFailure('ENCODING', 'Content-Encoding not asked for', encoding)
  }
}

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { andThen } from '../../platform/concurrency/maybePromise.ts'
import type { BodyStream, HttpAnswer } from '../guards/exchange.ts'
import type { Hooks } from '../guards/guards.ts'
import { byteLengthOf, isStream, keptIn, textOf, type WholeBody } from '../rpc/answerBody.ts'
import {
  type Coding,
  createCodingChoice,
  type CodedText,
  codeText,
  codings,
  gzipOptions,
  zstdOptions
} from './codedText.ts'

/** Shorter answers fit into a few packets as they are. */
const minBytes = 4_096
/** Answers that are compressed at the same time, on the threads that Node has for such work. */
const wholeAtOnce = 8
const streamsAtOnce = 2

/**
 * Guard: compresses answers above 4 kB for callers who accept it, with zstd, else with gzip.
 *
 * Compression takes several times the processor time of a kept page, and many answers at once would take all of it: beyond some
 * answers at the same time, and while the server is busy, answers go out as they are. A kept page is compressed once.
 *
 * @param isBusy - the server has better use for its time.
 * @param usable - those that may be used, the preferred one first.
 * A stream of events is never compressed: it would be held back until there is enough of it.
 *
 * @remarks A caller who refuses a body as it is (`identity;q=0`) always gets a coded one, if there is one that it accepts.
 */
export function compressAnswers(isBusy: () => boolean, usable: readonly Coding[] = codings): Hooks {
  const choose = createCodingChoice(usable)
  let whole = 0
  let streams = 0

  async function compressWhole(coding: Coding, body: WholeBody): Promise<HttpAnswer['body']> {
    whole++
    try {
      const kept = keptIn(body)
      if (kept === undefined) return [await compressBytes(coding, Buffer.from(textOf(body)))]
      return (await codeOnce(coding, kept.bytes)).between(kept.before, kept.after)
    } finally {
      whole--
    }
  }

  function compressBody(coding: Coding, body: HttpAnswer['body'], isRequired: boolean) {
    if (isStream(body)) {
      if (!isRequired && (streams >= streamsAtOnce || isBusy())) return undefined
      streams++
      return compressStream(coding, body, () => streams--)
    }
    if (!isRequired && byteLengthOf(body) <= minBytes) return undefined
    const kept = keptIn(body)
    const known = kept && coded.get(kept.bytes)?.[coding]
    if (kept !== undefined && known !== undefined && !(known instanceof Promise)) {
      return known.between(kept.before, kept.after)
    }
    if (!isRequired && (whole >= wholeAtOnce || isBusy())) return undefined
    return compressWhole(coding, body)
  }

  return {
    check({ answerHeaders }) {
      const { vary } = answerHeaders
      answerHeaders.vary = vary === undefined ? 'accept-encoding' : `${vary}, accept-encoding`
      return undefined
    },
    finish({ request }, answer) {
      const choice = choose(request.header('accept-encoding'))
      if (choice === undefined || answer.body === '' || answer.isEvents) return answer
      const { coding, isRequired } = choice
      const body = compressBody(coding, answer.body, isRequired)
      if (body === undefined) return answer
      const headers = { ...answer.headers, 'content-encoding': coding }
      return andThen(body, encoded => ({ ...answer, headers, body: encoded }))
    }
  }
}

/** Kept texts that were compressed, or are being compressed. */
const coded = new WeakMap<Buffer, Partial<Record<Coding, CodedText | Promise<CodedText>>>>()

async function codeOnce(coding: Coding, text: Buffer): Promise<CodedText> {
  const known = coded.get(text) ?? {}
  coded.set(text, known)
  known[coding] ??= codeText(coding, text)
  try {
    const done = await known[coding]
    known[coding] = done
    return done
  } catch (error) {
    delete known[coding]
    throw error
  }
}

function compressBytes(coding: Coding, bytes: Buffer): Promise<Buffer> {
  return coding === 'zstd'
    ? promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress)(bytes, zstdOptions)
    : promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip)(bytes, gzipOptions)
}

/**
 * Compresses a stream as it is read.
 *
 * @param ended - runs once, when the result is read to its end, fails or is dropped.
 */
function compressStream(coding: Coding, body: BodyStream, ended: () => void): BodyStream {
  const encoder = coding === 'zstd' ? zlib.createZstdCompress(zstdOptions) : zlib.createGzip(gzipOptions)
  const pieces: AsyncIterable<string | Uint8Array> = { [Symbol.asyncIterator]: () => body }
  // A failure destroys the encoder, so that who reads it gets the failure.
  const done = pipeline(Readable.from(pieces, { objectMode: true, highWaterMark: 1 }), encoder)
  done.catch(() => {}).finally(ended)
  const chunks: AsyncIterator<Buffer, undefined> = encoder[Symbol.asyncIterator]()
  return {
    next: () => chunks.next(),
    async return() {
      encoder.destroy()
      await body.return()
      return { done: true, value: undefined }
    }
  }
}

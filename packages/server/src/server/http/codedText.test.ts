import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../devnet/src/platform/createRandom.ts'
import { codeText, codings } from './codedText.ts'

const decode = { gzip: gunzipSync, zstd: zstdDecompressSync }
const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

describe.each(codings)(`a text coded with %s (CHAIN_DATA_TEST_SEED=${seed})`, coding => {
  it('is, between any other texts, what a decoder reads as one body', async () => {
    const random = createRandom(seed)
    const text = (length: number) => {
      const word = Array.from({ length: 1 + random.below(40) }, () =>
        String.fromCharCode(32 + random.below(95))
      )
      const repeated = word
        .join('')
        .repeat(Math.ceil(length / word.length))
        .slice(0, length)
      return random.below(3) === 0
        ? Array.from({ length }, () => String.fromCharCode(32 + random.below(95))).join('')
        : repeated
    }
    for (const length of [1, 2, 100, 4_096, 70_000, 131_072, 131_073, 262_144, 1_048_576]) {
      const middle = text(length)
      const coded = await codeText(coding, Buffer.from(middle))
      for (const [before, after] of [
        [text(1 + random.below(400)), text(1 + random.below(5))],
        ['', ''],
        [`${text(60_000)}\u00e9\u{1f600}`, '']
      ] as const) {
        const body = Buffer.concat(coded.between(before, after))
        expect(decode[coding](body).toString() === before + middle + after).toBe(true)
      }
    }
  })

  it('is refused when it is longer than a reader has to hold', async () => {
    await expect(codeText(coding, Buffer.alloc(2 ** 20 + 1))).rejects.toThrow(RangeError)
  })
})

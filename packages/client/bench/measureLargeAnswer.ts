import { examples } from '@chain-data/protocol/examples'

/** Time of reading one large answer, in milliseconds. */
export interface AnswerTimes {
  readonly records: number
  readonly bytes: number
  readonly medianMs: number
  readonly rangeMs: readonly [number, number]
  /** The same of `fetch` and `response.json()`. */
  readonly bareMedianMs: number
  readonly bareRangeMs: readonly [number, number]
}

const records = 50_000
const rounds = 15
/** As a socket gives them. */
const chunkBytes = 65_536

/**
 * How long `./fetch` takes for a history of 50,000 records, and how long `response.json()` does. They take turns; the first
 * round of each warms up.
 */
export async function measureLargeAnswer(): Promise<AnswerTimes> {
  const bytes = new TextEncoder().encode(`{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(history())}}`)
  globalThis.fetch = async () =>
    new Response(chunked(bytes), { headers: { 'content-type': 'application/json' } })
  const { createClient } = await import('@chain-data/client/fetch')
  const options = { baseUrl: 'https://rpc.example.com', auth: false, chainId: 1 } as const
  const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
  const own: number[] = []
  const bare: number[] = []
  for (let round = 0; round <= rounds; round++) {
    // A client of its own for each: the answer has the id of a first call.
    const client = createClient(options)
    own.push(await timeOf(() => client.getTransactionsByAddress({ address })))
    bare.push(await timeOf(async () => ((await (await fetch('/')).json()) as { result: unknown }).result))
  }
  const [medianMs, rangeMs] = summary(own.slice(1))
  const [bareMedianMs, bareRangeMs] = summary(bare.slice(1))
  return { records, bytes: bytes.length, medianMs, rangeMs, bareMedianMs, bareRangeMs }
}

async function timeOf(read: () => Promise<unknown>): Promise<number> {
  await globalThis.gc?.()
  const startMs = performance.now()
  const result = await read()
  const tookMs = performance.now() - startMs
  if (!Array.isArray(result) || result.length !== records) throw new Error('the answer was not read')
  return tookMs
}

/** Confirmed records of the document's example, each with a hash of its own. */
function history(): unknown[] {
  const [example] = examples.svc_getTransactionsByAddress
  const confirmed = example?.result.filter(({ status = 3 }) => status > 2) ?? []
  return Array.from({ length: records }, (_, index) => ({
    ...confirmed[index % confirmed.length],
    hash: `0x${index.toString(16).padStart(64, '0')}`
  }))
}

function chunked(bytes: Uint8Array): ReadableStream {
  let offset = 0
  return new ReadableStream({
    pull(controller) {
      if (offset >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(offset, offset + chunkBytes))
      offset += chunkBytes
    }
  })
}

function summary(values: number[]): [median: number, range: readonly [number, number]] {
  values.sort((a, b) => a - b)
  const at = (index: number) => values[index] ?? Number.NaN
  return [at(Math.floor(values.length / 2)), [at(0), at(values.length - 1)]]
}

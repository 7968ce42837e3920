/** What stands before and behind the result in the answers of nodes; the id is put in. */
const envelopes = [
  ['{"jsonrpc":"2.0","id":#,"result":', '}'],
  ['{"jsonrpc":"2.0","result":', ',"id":#}'],
  ['{"id":#,"jsonrpc":"2.0","result":', '}'],
  ['{"id":#,"result":', ',"jsonrpc":"2.0"}']
] as const

const newLine = 0x0a

/**
 * The bytes of the result in an answer to the call with this id. What stands around them is exactly one of the forms in
 * which nodes write it; whether they are one value, and not more, is for whoever reads them to find out.
 * @returns `undefined` for an answer of any other form, also an error.
 */
export function findResult(body: Buffer, id: number): Uint8Array | undefined {
  let end = body.length
  while (body[end - 1] === newLine) end--
  for (const [before, behind] of envelopes) {
    const head = before.replace('#', String(id))
    const tail = behind.replace('#', String(id))
    const from = head.length
    const to = end - tail.length
    if (from < to && isAt(body, 0, head) && isAt(body, to, tail)) return body.subarray(from, to)
  }
  return undefined
}

function isAt(body: Buffer, at: number, text: string): boolean {
  return body.toString('latin1', at, at + text.length) === text
}

/** A method of a node and what it is called with. */
export interface NodeCall {
  readonly method: string
  readonly params: readonly unknown[]
}

const beforeResult = Buffer.from('{"jsonrpc":"2.0","id":1,"result":')

/**
 * The bytes of a result, exactly as the node wrote them.
 * @throws {Error} the node answers an error, or in another order of members than anvil does.
 */
export async function callForBytes(url: string, { method, params }: NodeCall): Promise<Buffer> {
  const body = await post(url, { jsonrpc: '2.0', id: 1, method, params })
  if (!body.subarray(0, beforeResult.length).equals(beforeResult)) {
    throw new Error(`${method}: the node answered ${body.toString('utf8', 0, 300)}; expected a result`)
  }
  return body.subarray(beforeResult.length, -1)
}

/** One call, parsed. @throws {Error} the node answers an error. */
export async function callNode(url: string, method: string, ...params: readonly unknown[]): Promise<unknown> {
  return JSON.parse((await callForBytes(url, { method, params })).toString())
}

/** Many calls at once, which the node may carry out in any order. @throws {Error} one of them fails. */
export async function callTogether(url: string, calls: readonly NodeCall[]): Promise<void> {
  const batch = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const answers = JSON.parse((await post(url, batch)).toString()) as readonly { readonly error?: unknown }[]
  const failed = answers.find(({ error }) => error !== undefined)
  if (failed !== undefined || answers.length !== calls.length) {
    throw new Error(`the node refused a call: ${JSON.stringify(failed?.error)?.slice(0, 300)}`)
  }
}

async function post(url: string, body: unknown): Promise<Buffer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return Buffer.from(await response.arrayBuffer())
}

/** Errors are known between the ESM and the CommonJS copy, and between the entries of each, and print their own names. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import * as esmMain from '@chain-data/client'
import * as esmFetch from '@chain-data/client/fetch'

const require = createRequire(import.meta.url)
const copies = [esmMain, esmFetch, require('@chain-data/client'), require('@chain-data/client/fetch')]
assert.notEqual(copies[0].RpcError, copies[2].RpcError, 'the copies are two')

/** One error of each class, as this copy throws it. */
async function errorsOf({ createClient }) {
  const answers = [
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}',
    '<html>',
    Object.assign(new Error('x'), { code: 'ECONNRESET' })
  ]
  const caught = []
  try {
    createClient({})
  } catch (error) {
    caught.push(['ConfigurationError', error])
  }
  const classes = ['RpcError', 'ProtocolError', 'TransportError']
  for (const [index, answer] of answers.entries()) {
    globalThis.fetch = async () => {
      if (answer instanceof Error) throw answer
      return new Response(answer, { headers: { 'Content-Type': 'application/json' } })
    }
    const client = createClient({ baseUrl: 'https://rpc.example.com', auth: false, chainId: 1, retries: 0 })
    const call = client.getTokensAndNFTs({ address: `0x${'00'.repeat(20)}` })
    caught.push([classes[index], await call.catch(error => error)])
  }
  return caught
}

const names = ['ConfigurationError', 'RpcError', 'ProtocolError', 'TransportError']
for (const source of [copies[1], copies[3]]) {
  for (const [own, error] of await errorsOf(source)) {
    for (const shown of [inspect(error), error.stack, String(error)]) {
      assert.ok(shown.startsWith(`${own}: ${error.message}`), shown)
    }
    assert.equal(error.constructor.name, own)
    for (const copy of copies) {
      assert.ok(error instanceof copy.ChainDataClientError, `${own} is an error of every copy`)
      for (const name of names) {
        assert.equal(error instanceof copy[name], name === own, `${own} instanceof ${name} of another copy`)
      }
    }
  }
}

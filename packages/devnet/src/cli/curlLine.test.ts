import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlLine } from './curlLine.ts'

const call = {
  baseUrl: 'http://127.0.0.1:8080',
  endpoint: '/evm-chain',
  method: 'svc_getTokensAndNFTs',
  chainId: 31337,
  params: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', ["it's", '$HOME `x`']],
  projectId: 'demo',
  serverKey: "schlüssel'"
} as const

test('a shell passes the URL, the credentials and the body on exactly', () => {
  const script = `curl() { for word in "$@"; do printf '%s\\n' "$word"; done; }\n${curlLine(call)}`
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\n')
  expect(words.slice(0, 2)).toEqual(['-s', 'http://127.0.0.1:8080/evm-chain'])
  const credentials = Buffer.from("demo:schlüssel'").toString('base64')
  expect(words).toContain(`Authorization: Basic ${credentials}`)
  expect(words).toContain('Content-Type: application/json')
  expect(JSON.parse(words[words.indexOf('-d') + 1]!)).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: call.method,
    chainId: call.chainId,
    params: call.params
  })
})

test('it is one line', () => {
  expect(curlLine(call)).not.toContain('\n')
})

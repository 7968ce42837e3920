import { describe, expect, it } from 'vitest'
import { findResult } from './jsonRpc.ts'

const find = (text: string, id = 7) => {
  const found = findResult(Buffer.from(text), id)
  return found === undefined ? undefined : Buffer.from(found).toString()
}

describe('the result in an answer', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":7,"result":[{"id":7}]}', '[{"id":7}]'],
    ['{"jsonrpc":"2.0","id":7,"result":null}\n', 'null'],
    ['{"jsonrpc":"2.0","result":{"a":"}"},"id":7}', '{"a":"}"}'],
    ['{"id":7,"jsonrpc":"2.0","result":"0x1"}', '"0x1"'],
    ['{"id":7,"result":{},"jsonrpc":"2.0"}', '{}']
  ])('is found in %s', (text, result) => {
    expect(find(text)).toBe(result)
  })

  it.each([
    '{"jsonrpc":"2.0","id":8,"result":{}}',
    '{"jsonrpc":"2.0","id":77,"result":{}}',
    '{"jsonrpc":"2.0","id":"7","result":{}}',
    '{"jsonrpc":"2.0","result":{},"id":77}',
    '{"jsonrpc":"1.0","id":7,"result":{}}',
    '{"jsonrpc":"2.0","id":7,"error":{"code":1}}',
    '{"jsonrpc": "2.0","id":7,"result":{}}',
    '{"jsonrpc":"2.0","id":7,"result":}',
    '[{"jsonrpc":"2.0","id":7,"result":{}}]',
    '{"result":{}}',
    ''
  ])('is not looked for in %s', text => {
    expect(find(text)).toBeUndefined()
  })
})

import { describe, expect, it } from 'vitest'
import { type NodeMessageKind, readNodeMessage, speaksOfBatch } from './errorWords.ts'

/** Texts as nodes and providers send them, from their sources, documentation and reports. */
const seen: [NodeMessageKind, string, number, string][] = [
  [
    'throttled',
    'Alchemy',
    429,
    'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.'
  ],
  [
    'throttled',
    'Alchemy over WebSocket',
    -32000,
    'Your app has exceeded its compute units per second capacity.'
  ],
  ['throttled', 'Infura', -32005, 'project ID request rate exceeded'],
  [
    'throttled',
    'QuickNode',
    -32007,
    '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com'
  ],
  ['throttled', 'Chainstack', -32005, "You've exceeded the RPS limit available on the current plan."],
  ['throttled', 'BlockVision', -32605, 'Too many requests were made, these requests are be limited.'],
  ['throttled', 'geth-like gateways', -32005, 'limit exceeded'],
  ['throttled', 'jsonrpsee', -32009, 'Server is busy, try again later'],
  ['throttled', 'erigon', -32005, 'server overloaded'],
  ['throttled', 'a bare 429', 429, 'slow down'],
  [
    'exhausted',
    'Alchemy',
    -32600,
    'Monthly capacity limit exceeded. Visit the dashboard to upgrade your scaling policy for continued service.'
  ],
  ['exhausted', 'Infura', -32005, 'daily request count exceeded, request rate limited'],
  ['exhausted', 'Infura', 402, 'Payment Required'],
  ['batchRefused', 'geth', -32600, 'batch too large'],
  ['batchRefused', 'erigon 2', -32000, 'batch limit 100 exceeded: 142 requests given'],
  [
    'batchRefused',
    'erigon 3',
    -32000,
    'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 401'
  ],
  ['batchRefused', 'a fallback provider', -32600, 'Batch limit 128, got 2840'],
  ['batchRefused', 'jsonrpsee (reth, Hyperliquid)', -32010, 'The batch request was too large'],
  ['batchRefused', 'jsonrpsee', -32005, 'Batched requests are not supported by this server'],
  ['batchRefused', 'nethermind', -32005, 'Batch size limit exceeded'],
  ['batchRefused', 'besu', -32005, 'Number of requests exceeds max batch size'],
  [
    'batchRefused',
    'dRPC',
    31,
    'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org'
  ],
  ['batchRefused', 'bodhi', -32600, 'Exceeded maximum batch size 20'],
  ['answerTooLarge', 'geth', -32003, 'response too large'],
  ['answerTooLarge', 'jsonrpsee', -32008, 'Response is too big'],
  ['answerTooLarge', 'jsonrpsee', -32011, 'The batch response was too large'],
  ['answerTooLarge', 'nethermind', -32005, 'MaxBatchResponseBodySize 33554432 exceeded'],
  ['missingData', 'geth', -32000, 'header not found'],
  ['missingData', 'geth', -32001, 'block not found: 0x3b9aca00'],
  [
    'missingData',
    'geth',
    -32000,
    'missing trie node 5c9988edf0f4826717b1cda157724c139a93e7c232e919b2f7cdff31e708c5d8 (path )'
  ],
  ['missingData', 'geth', 4444, 'pruned history unavailable'],
  ['missingData', 'reth', -32603, 'state at block #2 is pruned'],
  [
    'missingData',
    'OpenEthereum',
    -32000,
    'This request is not supported because your node is running with state pruning. Run with --pruning=archive.'
  ],
  ['missingData', 'Infura', -32002, 'project ID does not have access to archive state'],
  ['missingData', 'Sei', -32000, 'could not find block for height 826401374464'],
  ['missingData', 'coreth', -32000, 'cannot query unfinalized data: after last accepted block'],
  ['missingData', 'anvil', -32602, 'BlockOutOfRangeError: block height is 5 but requested was 10'],
  ['missingData', 'hardhat', -32602, 'Received invalid block tag 10. Latest block number is 5'],
  ['missingData', 'many', -32000, 'unknown block'],
  ['missingData', 'proofs', -32000, 'distance to target block exceeds maximum proof window']
]

describe('readNodeMessage', () => {
  it.each(seen)('takes for %s what %s says: %i %s', (kind, _, code, message) => {
    expect(readNodeMessage(code, message)).toBe(kind)
  })

  it.each<[string, number, string, unknown]>([
    ['a revert, whatever its reason says', 3, 'execution reverted: too many requests', '0x08c379a0'],
    ['a revert under a common code', -32000, 'execution reverted: header not found', undefined],
    ['a revert that only its data show', -32015, 'VM execution error: batch too large', '0x08c379a0'],
    ['invalid params', -32602, 'missing value for required argument 0', undefined],
    ['a tag that a young chain does not have', -32000, 'finalized block not found', undefined],
    ['a result limit', -32005, 'query returned more than 10000 results', undefined],
    ['too little gas', -32000, 'intrinsic gas too low', undefined],
    ['a missing method', -32601, 'the method eth_foo does not exist/is not available', undefined]
  ])('takes %s for an error of the call itself', (_, code, message, data) => {
    expect(readNodeMessage(code, message, data)).toBeUndefined()
  })

  it('knows the words of a batch refusal under any code', () => {
    expect(speaksOfBatch('Batch of more than 3 requests are not allowed')).toBe(true)
    expect(speaksOfBatch('execution reverted')).toBe(false)
  })
})

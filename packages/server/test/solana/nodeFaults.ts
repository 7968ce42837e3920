import { errorOf, type Reaction, type RpcCall } from './startScriptedNode.ts'

/** How a node goes wrong, in front of one that does not. */
export interface NodeFault {
  readonly name: string
  /** @returns undefined to let the real node answer. */
  readonly react: (call: RpcCall, realNode: string) => Reaction | undefined
  /** A second try at the same node may succeed. */
  readonly passes: boolean
}

const owners = 'getTokenAccountsByOwner'
const result = ({ id }: RpcCall, text: string): Reaction => ({
  body: `{"jsonrpc":"2.0","id":"${id}",${text}}`
})
const rpcError =
  (code: number, data?: object): NodeFault['react'] =>
  call =>
    result(call, `"error":${JSON.stringify({ code, message: 'see http://key.test', data })}`)
const passOn =
  (change: (text: string, call: RpcCall) => string): NodeFault['react'] =>
  (call, realNode) => ({ passOn: realNode, change: text => change(text, call) })
const only =
  (method: string, react: NodeFault['react']): NodeFault['react'] =>
  (call, realNode) =>
    call.method === method ? react(call, realNode) : undefined

const passing: [string, NodeFault['react']][] = [
  ['resets connections', () => 'reset'],
  ['answers HTTP 429', () => ({ status: 429, body: '{}' })],
  ['answers error 429', rpcError(429)],
  ['answers error 429 to nobody', () => ({ body: '{"jsonrpc":"2.0","id":null,"error":{"code":429}}' })],
  ['answers error -32429', rpcError(-32429)],
  ['answers HTTP 503 with a page', () => ({ status: 503, body: '<html>busy</html>' })],
  ['answers HTTP 503 with an error that nobody knows', call => errorOf(call, -32000, 503)],
  ['answers HTTP 408', () => ({ status: 408, body: '' })],
  ['answers HTTP 200 with a page', () => ({ status: 200, body: '<html>maintenance</html>' })],
  ['is unhealthy', rpcError(-32005, { numSlotsBehind: 400 })],
  ['has not reached the slot', rpcError(-32016, { contextSlot: 3 })],
  ['is broken inside', rpcError(-32603)],
  ['has no such block', rpcError(-32004)],
  ['has skipped the slot', rpcError(-32007)],
  ['has skipped the slot long ago', rpcError(-32009)],
  ['was overtaken in its scan', rpcError(-32012)],
  ['breaks off in the middle', () => ({ cutAfter: '{"jsonrpc":"2.0","result":{"cont' })],
  ['cuts its answer short', passOn(text => text.slice(0, text.length >> 1))],
  [
    'answers two values',
    only(
      owners,
      passOn(text => `${text}${text}`)
    )
  ],
  ['answers another call', passOn(text => text.replace(/"id":"[^"]+"/, '"id":"another"'))],
  ['answers result and error', passOn(text => text.replace('{', '{"error":{"code":-32602,"message":""},'))],
  ['answers two results', passOn(text => text.replace('{', '{"result":{"context":{"slot":1},"value":[]},'))],
  ['answers null', call => result(call, '"result":null')],
  ['answers neither result nor error', call => result(call, '"note":1')],
  ['answers without a slot', passOn(text => text.replace(/"slot":\d+/, '"block":1'))],
  ['answers in hex', passOn(text => text.replaceAll('"base64"', '"hex"'))],
  [
    'answers broken base64',
    only(
      owners,
      passOn(text => text.replaceAll(/\["./g, '["*'))
    )
  ],
  [
    'ignores how new an answer must be',
    only(
      'getMultipleAccounts',
      passOn(text => text.replace(/"slot":\d+/, '"slot":1'))
    )
  ],
  [
    'leaves out an account that was asked for',
    only('getMultipleAccounts', call => result(call, '"result":{"context":{"slot":9999},"value":[]}'))
  ],
  [
    'lists accounts twice',
    only(
      owners,
      passOn(text => text.replace(/"value":\[(.+)\]/s, '"value":[$1,$1]'))
    )
  ]
]

const lasting: [string, NodeFault['react']][] = [
  ['answers HTTP 401', () => ({ status: 401, body: '{"message":"no key http://key.test"}' })],
  ['answers HTTP 403', () => ({ status: 403, body: 'forbidden' })],
  [
    'asks to be left alone for an hour',
    () => ({ status: 429, headers: { 'retry-after': '3600' }, body: '' })
  ],
  ['asks so inside an answer', call => ({ ...errorOf(call, 429), headers: { 'retry-after': '3600' } })],
  ['lacks the method', only(owners, rpcError(-32601))],
  ['keeps the key out of its index', only(owners, rpcError(-32010))],
  ['finds the params wrong', rpcError(-32602)],
  ['lacks the method and calls that a fault of its own', call => errorOf(call, -32601, 500)],
  ['answers an error that nobody knows', rpcError(-31999)],
  ['announces a body without bounds', () => ({ cutAfter: '{', claims: 10 ** 9 })]
]

/** Every way to go wrong that another node makes up for. */
export const nodeFaults: readonly NodeFault[] = [
  ...passing.map(([name, react]) => ({ name, react, passes: true })),
  ...lasting.map(([name, react]) => ({ name, react, passes: false }))
]

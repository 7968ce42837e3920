import { address } from '../http/startService.ts'
import { answered, type CallCase, call, failed } from './AbuseCase.ts'

const long = 'x'.repeat(10_000)
const method = '"svc_getTransactionsByAddress"'

const wrongHistory: readonly [string, string, string][] = [
  ['no address', '[]', '/params'],
  ['null', '[null]', '/params/0'],
  ['a number', '[7]', '/params/0'],
  ['a list', `[["${address}"]]`, '/params/0'],
  ['an address too short', '["0x1"]', '/params/0'],
  ['an address too long', `["${address}0"]`, '/params/0'],
  ['no 0x', `["${address.slice(2)}aa"]`, '/params/0'],
  ['an upper-case 0X', `["${address.replace('0x', '0X')}"]`, '/params/0'],
  ['a line break behind the address', `["${address}\\n"]`, '/params/0'],
  ['a NUL in the address', `["${address.slice(0, -1)}\\u0000"]`, '/params/0'],
  ['digits of another script', `["${address.slice(0, -1)}٣"]`, '/params/0'],
  ['a name', '["vitalik.eth"]', '/params/0'],
  ['SQL', `["${address}' OR '1'='1"]`, '/params/0'],
  ['half a megabyte', `["0x${'f'.repeat(500_000)}"]`, '/params/0'],
  ['options of null', `["${address}",null]`, '/params/1'],
  ['options as a list', `["${address}",[]]`, '/params/1'],
  ['a third member', `["${address}",{},{}]`, '/params'],
  ['limit 0', `["${address}",{"limit":0}]`, '/params/1/limit'],
  ['a limit of minus zero', `["${address}",{"limit":-0}]`, '/params/1/limit'],
  ['a limit too large', `["${address}",{"limit":1001}]`, '/params/1/limit'],
  ['a limit beyond doubles', `["${address}",{"limit":1e400}]`, '/params/1/limit'],
  ['a fraction as limit', `["${address}",{"limit":1.5}]`, '/params/1/limit'],
  ['text as limit', `["${address}",{"limit":"10"}]`, '/params/1/limit'],
  ['an include that is none', `["${address}",{"include":"transfers"}]`, '/params/1/include'],
  ['an include of null', `["${address}",{"include":null}]`, '/params/1/include'],
  ['something else to include', `["${address}",{"include":["transfers","logs"]}]`, '/params/1/include/1'],
  [
    'much to include',
    `["${address}",{"include":[${Array(50_000).fill('"transfers"')}]}]`,
    '/params/1/include'
  ],
  ['a cursor that is none', `["${address}",{"before":"0x"}]`, '/params/1/before'],
  ['a cursor of null', `["${address}",{"before":null}]`, '/params/1/before'],
  ['an option __proto__', `["${address}",{"__proto__":{"limit":1}}]`, '/params/1/__proto__'],
  ['an option constructor', `["${address}",{"constructor":1}]`, '/params/1/constructor'],
  ['an option with a long name', `["${address}",{"${long}":1}]`, `/params/1/${long}`.slice(0, 100)],
  ['an option with a pointer as name', `["${address}",{"a/b~c":1}]`, '/params/1/a~1b~0c']
]

const wrongTokens: readonly [string, string, string][] = [
  ['101 contracts', `["${address}",[${Array(101).fill(`"${address}"`)}]]`, '/params/1'],
  ['200,000 contracts', `["${address}",[${Array(200_000).fill('0')}]]`, '/params/1'],
  ['a contract that is none', `["${address}",["${address}",7]]`, '/params/1/1'],
  ['an object of contracts', `["${address}",{"0":"${address}","length":1}]`, '/params/1']
]

const wrongAccounts: readonly [string, string, string][] = [
  ['no account', '[]', '/params'],
  ['options twice', `["${address}",{},{}]`, '/params'],
  ['an unknown option', `["${address}",{"roots":true}]`, '/params/1/roots'],
  ['an unknown verification', `["${address}",{"verify":"basic"}]`, '/params/1/verify'],
  ['an account of null', '[null]', '/params/0'],
  ['an account too short', '["0x1"]', '/params/0'],
  ['a NUL in the account', `["${address.slice(0, -1)}\\u0000"]`, '/params/0']
]

const wrongChains: readonly [string, string | null][] = [
  ['no chain', null],
  ['text', '"1"'],
  ['null', 'null'],
  ['true', 'true'],
  ['a list', '[1]'],
  ['a fraction', '1.5'],
  ['a fraction that parsing rounds away', '1.00000000000000000001'],
  ['a negative number', '-1'],
  ['2^53 + 1', '9007199254740993'],
  ['2^64 + 1', '18446744073709551617'],
  ['a number beyond doubles', '1e400'],
  ['hexadecimal text', '"0x1"']
]

const wrongUrlChains: readonly [string, string][] = [
  ['an empty one', 'chainId='],
  ['hexadecimal', 'chainId=0x1'],
  ['an exponent', 'chainId=1e0'],
  ['a sign', 'chainId=%2B1'],
  ['a negative one', 'chainId=-1'],
  ['a space', 'chainId=%201'],
  ['a NUL behind it', 'chainId=1%00'],
  ['digits of another script', 'chainId=%D9%A1'],
  ['two of them', 'chainId=1&chainId=31337'],
  ['one of them twice', 'chainId=1&chainId=1'],
  ['a list', 'chainId[]=1'],
  ['another case of its name', 'chainid=1'],
  ['17 digits', 'chainId=10000000000000000'],
  ['broken percent signs', 'chainId=%zz'],
  ['a semicolon as separator', 'a=b;chainId=1']
]

/** Requests whose envelope is right: params and chains. */
export const paramsCases: readonly CallCase[] = [
  ...(
    [
      ['no params', null],
      ['null as params', 'null'],
      ['text as params', '"[]"'],
      ['a number as params', '0']
    ] as const
  ).map(([name, params]) => ({
    name,
    body: call({ params }),
    expect: failed('INVALID_REQUEST', '5', '/params')
  })),
  ...(
    [
      ['params by name', '{}'],
      ['params that look like a list', '{"0":"x","length":1}'],
      ['params named __proto__', '{"__proto__":[]}'],
      ['more params than the method has', '[1]'],
      ['params of 200,000 zeros', `[${Array(200_000).fill('0')}]`]
    ] as const
  ).map(([name, params]) => ({
    name,
    body: call({ params }),
    expect: failed('INVALID_PARAMS', '5', '/params')
  })),
  ...wrongHistory.map(([name, params, path]) => ({
    name: `a history for ${name}`,
    body: call({ method, params }),
    expect: failed('INVALID_PARAMS', '5', path)
  })),
  {
    name: 'an option twice: the last one counts',
    body: call({ method, params: `["${address}",{"limit":0,"limit":2}]` }),
    expect: { ...answered(), isHistory: true }
  },
  ...wrongTokens.map(([name, params, path]) => ({
    name: `holdings for ${name}`,
    body: call({ method: '"svc_getTokensAndNFTs"', params }),
    expect: failed('INVALID_PARAMS', '5', path)
  })),
  ...wrongAccounts.map(([name, params, path]) => ({
    name: `a certificate for ${name}`,
    body: call({ method: '"svc_verifyHistory"', params }),
    expect: failed('INVALID_PARAMS', '5', path)
  })),
  ...wrongChains.map(([name, chainId]) => ({
    name: `a chain of ${name}`,
    body: call({ chainId }),
    expect: failed('INVALID_PARAMS', '5', '/chainId')
  })),
  ...wrongUrlChains.map(([name, query]) => ({
    name: `a chain in the URL: ${name}`,
    target: `/evm-chain?${query}`,
    body: call({ chainId: null }),
    expect: failed('INVALID_PARAMS', '5', '/chainId')
  })),
  ...(
    [
      ['zero', '0'],
      ['minus zero', '-0'],
      ['another number', '99999'],
      ['a cluster of Solana', '103']
    ] as const
  ).map(([name, chainId]) => ({
    name: `a chain that is not served: ${name}`,
    body: call({ chainId }),
    expect: failed('UNSUPPORTED_CHAIN')
  })),
  { name: 'a chain written with an exponent', body: call({ chainId: '10e-1' }), expect: answered() },
  {
    name: 'a chain in the body and another one in the URL',
    target: '/evm-chain?chainId=99999',
    body: call(),
    expect: answered()
  },
  {
    name: 'an EVM chain on the endpoint of Solana',
    target: '/solana',
    body: call(),
    expect: { ...failed('UNSUPPORTED_CHAIN'), chainId: 1 }
  },
  {
    name: 'two chains on the endpoint that repeats the chain',
    target: '/solana',
    body: call({ chainId: '103' }, ',"chainId":101'),
    expect: failed('INVALID_REQUEST', '5', '/chainId')
  },
  {
    name: 'a chain on the endpoint that repeats it',
    target: '/solana',
    body: call({ chainId: '103' }),
    expect: answered('5', 103)
  }
]

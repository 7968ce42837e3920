import { answered, type CallCase, call, failed } from './AbuseCase.ts'

const long = 'x'.repeat(10_000)

const echoedIds: readonly [string, string][] = [
  ['zero', '0'],
  ['minus zero', '-0'],
  ['a whole number with a fraction part', '1.0'],
  ['an exponent', '1E2'],
  ['an exponent and sign', '100e-2'],
  ['the largest integer', '9007199254740991'],
  ['the smallest integer', '-9007199254740991'],
  ['a fraction that an exponent makes whole', '0.1e1'],
  ['text of digits', '"9007199254740993"'],
  ['text with an escape', '"\\u0041"'],
  ['text with a lone surrogate', '"\\ud800"'],
  ['text with a NUL', '"\\u0000"'],
  ['text with line breaks that would split a head', '"\\r\\nSet-Cookie: a=b"'],
  ['text with markup', '"</script><script>alert(1)"'],
  ['the name of a prototype', '"__proto__"'],
  ['256 characters', `"${'x'.repeat(256)}"`],
  ['256 characters beyond the first plane', `"${'😀'.repeat(256)}"`],
  ['256 characters, all escaped', `"${'\\u0041'.repeat(256)}"`]
]

const refusedIds: readonly [string, string][] = [
  ['null', 'null'],
  ['true', 'true'],
  ['a list', '[1]'],
  ['an empty list', '[]'],
  ['an object', '{"id":1}'],
  ['a fraction', '1.5'],
  ['a tiny fraction beside a whole', '1.00000000000000000001'],
  ['2^53', '9007199254740992'],
  ['2^53 + 1', '9007199254740993'],
  ['-2^53', '-9007199254740992'],
  ['a number beyond doubles', '1e400'],
  ['a number below doubles', '1e-400'],
  ['an exponent of eleven digits', '1e99999999999'],
  ['a number of 100,000 digits', '9'.repeat(100_000)],
  ['empty text', '""'],
  ['257 characters', `"${'x'.repeat(257)}"`],
  ['257 characters beyond the first plane', `"${'😀'.repeat(257)}"`],
  ['half a megabyte of text', `"${'x'.repeat(500_000)}"`]
]

const versions: readonly [string, string | null][] = [
  ['no version', null],
  ['version 1.0', '"1.0"'],
  ['the version as a number', '2.0'],
  ['the version 2', '"2"'],
  ['a space before the version', '" 2.0"'],
  ['a NUL behind the version', '"2.0\\u0000"'],
  ['the version in a list', '["2.0"]'],
  ['null as version', 'null'],
  ['an object as version', '{"toString":"2.0"}']
]

const unknownMethods: readonly [string, string][] = [
  ['no characters', ''],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['prototype', 'prototype'],
  ['toString', 'toString'],
  ['hasOwnProperty', 'hasOwnProperty'],
  ['__defineGetter__', '__defineGetter__'],
  ['the prefix alone', 'svc_'],
  ['a prefixed prototype', 'svc___proto__'],
  ['the prefix twice', 'svc_svc_getSyncStatus'],
  ['a prefix before what has none', 'svc_rpc.discover'],
  ['no prefix', 'getSyncStatus'],
  ['another case', 'SVC_GETSYNCSTATUS'],
  ['a space behind it', 'svc_getSyncStatus '],
  ['a line break behind it', 'svc_getSyncStatus\\n'],
  ['a NUL behind it', 'svc_getSyncStatus\\u0000'],
  ['a percent-encoded letter', 'svc%5FgetSyncStatus'],
  ['a letter that looks alike', 'ѕvc_getSyncStatus'],
  ['a character that shows it backwards', '\\u202esvc_getSyncStatus'],
  ['a path', '../svc_getSyncStatus'],
  ['a member of a member', 'rpc.discover.constructor'],
  ['another reserved name', 'rpc.modules'],
  ['a method of a node', 'eth_sendRawTransaction'],
  ['a method of the other endpoint', 'enhancedGetTokensAndNFTs'],
  ['a lone surrogate', '\\ud800'],
  ['10,000 characters', long],
  ['SQL', "' OR 1=1; --"],
  ['a template', '{{process.env.HOME}}']
]

const twice = (name: string, extra: string, path: string, id = '5'): CallCase => ({
  name: `a request with ${name}`,
  body: call({}, extra),
  expect: failed('INVALID_REQUEST', id, path)
})

/** Requests that are JSON: version, id, method, members given twice, prototypes. */
export const envelopeCases: readonly CallCase[] = [
  ...echoedIds.map(([name, id]) => ({ name: `an id of ${name}`, body: call({ id }), expect: answered(id) })),
  ...refusedIds.map(([name, id]) => ({
    name: `an id of ${name}`,
    body: call({ id }),
    expect: failed('INVALID_REQUEST', 'null', '/id')
  })),
  { name: 'no id', body: call({ id: null }), expect: answered('1') },
  {
    name: 'an id under another case of its name',
    body: call({ id: null }, ',"Id":7,"ID":8'),
    expect: answered('1')
  },
  { name: 'an id under an escaped name', body: call({ id: null }, ',"\\u0069d":7'), expect: answered('7') },
  {
    name: 'an id inside a member named __proto__',
    body: call({ id: null }, ',"__proto__":{"id":9}'),
    expect: answered('1')
  },

  ...versions.map(([name, jsonrpc]) => ({
    name,
    body: call({ jsonrpc }),
    expect: failed('INVALID_REQUEST', '5', '/jsonrpc')
  })),

  ...(
    [
      ['no method', null],
      ['null as method', 'null'],
      ['a number as method', '7'],
      ['a list as method', '["svc_getSyncStatus"]'],
      ['an object as method', '{"toString":"svc_getSyncStatus"}']
    ] as const
  ).map(([name, method]) => ({
    name,
    body: call({ method }),
    expect: failed('INVALID_REQUEST', '5', '/method')
  })),
  ...unknownMethods.map(([name, method]) => ({
    name: `a method of ${name}`,
    body: call({ method: `"${method}"` }),
    expect: failed('METHOD_NOT_FOUND')
  })),
  {
    name: 'a method whose name is escaped is that method',
    body: call({ method: '"\\u0073vc_getSyncStatus"' }),
    expect: answered()
  },

  twice('two versions', ',"jsonrpc":"2.0"', '/jsonrpc'),
  twice('two methods', ',"method":"svc_getTokensAndNFTs"', '/method'),
  twice('one method twice', ',"method":"svc_getSyncStatus"', '/method'),
  twice('two params', ',"params":[]', '/params'),
  twice('two chains', ',"chainId":31337', '/chainId'),
  twice('two ids', ',"id":6', '/id', 'null'),
  twice('an id and null', ',"id":null', '/id', 'null'),
  twice('three methods', ',"method":"a","method":"b"', '/method'),
  twice('a method under two spellings of its name', ',"m\\u0065thod":"svc_getTokensAndNFTs"', '/method'),
  twice('two methods and two ids', ',"method":"a","id":6', '/method', 'null'),
  {
    name: 'a meaningless member twice',
    body: call({}, ',"x":1,"x":2,"__proto__":1,"__proto__":2'),
    expect: answered()
  },
  {
    name: 'names of the envelope again further in',
    body: call({}, ',"x":{"id":1,"id":2,"method":"a","method":"b"}'),
    expect: answered()
  },

  {
    name: 'a whole request inside __proto__',
    body: `{"__proto__":${call()}}`,
    expect: failed('INVALID_REQUEST', '1', '/jsonrpc')
  },
  {
    name: 'a method inside constructor.prototype',
    body: call({ method: null }, ',"constructor":{"prototype":{"method":"svc_getSyncStatus"}}'),
    expect: failed('INVALID_REQUEST', '5', '/method')
  },
  {
    name: 'members that shadow those of every object',
    body: call({}, ',"toString":1,"toJSON":2,"valueOf":3,"hasOwnProperty":4,"constructor":5'),
    expect: answered()
  },
  {
    name: 'a member that says the answer',
    body: call({}, ',"result":[],"error":{"code":0}'),
    expect: answered()
  }
]

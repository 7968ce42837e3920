import { limits } from '@chain-data/protocol'
import { authorization } from '../http/startService.ts'
import { answered, call, refused, type WireCase } from './AbuseCase.ts'
import { wire } from './wire.ts'

const broken = refused(400)
const notJson = refused(415, 'UNSUPPORTED_MEDIA_TYPE')
const unknown = refused(401, 'UNAUTHENTICATED')
const tooLarge = refused(431)
const unmet = refused(417)

const brokenLines: readonly [string, string][] = [
  ['no colon', 'Foo'],
  ['no name', ': b'],
  ['a space before the colon', 'X-A : b'],
  ['a tab before the colon', 'X-A\t: b'],
  ['a space in its name', 'X A: b'],
  ['a bracket in its name', 'X(A): b'],
  ['a NUL in its name', 'X\0A: b'],
  ['a letter beyond ASCII in its name', 'X-\xc9: b'],
  ['a NUL in its value', 'X-A: a\0b'],
  ['a control character in its value', 'X-A: a\x01b'],
  ['a DEL in its value', 'X-A: \x7f'],
  ['a bare CR in its value', 'X-A: a\rX-B: b'],
  ['a bare LF at its end', 'X-A: a\nX-B: b'],
  ['a CR too many', 'X-A: a\r'],
  ['a fold', 'X-A: a\r\n b'],
  ['a fold with a tab', 'X-A: a\r\n\tb'],
  ['a fold before anything', ' X-A: a']
]

const hosts: readonly [string, string][] = [
  ['two words', 'a b'],
  ['a list', 'a, b'],
  ['credentials', 'u@x'],
  ['a path', 'x/evm-chain'],
  ['a query', 'x?y'],
  ['a fragment', 'x#y'],
  ['a port that is none', 'x:http'],
  ['a port of six digits', 'x:123456'],
  ['an open bracket', '[::1'],
  ['a scheme', 'http://x'],
  ['a quote', 'x"y'],
  ['markup', '<x>']
]

/** Header lines, as only a socket can send them. */
export const headsCases: readonly WireCase[] = [
  ...brokenLines.map(([name, line]) => wire(`a header with ${name}`, { lines: [line] }, [broken])),
  wire('a header in Latin-1', { lines: ['X-A: \xe9'] }, [answered()]),
  wire('a header without a value', { lines: ['X-A:'] }, [answered()]),
  wire('tabs around a value', { lines: ['X-A:\t a \t'] }, [answered()]),
  {
    name: 'lines that end with LF alone',
    bytes: 'POST /evm-chain HTTP/1.1\nHost: x\n\n',
    expect: [broken],
    kept: false
  },
  {
    name: 'a head that ends with LF alone',
    bytes: 'GET /health/live HTTP/1.1\r\nHost: x\r\n\n',
    expect: [broken],
    kept: false
  },

  ...hosts.map(([name, host]) => wire(`a host of ${name}`, { host }, [broken])),
  wire('no host', { host: null }, [broken]),
  wire('two hosts', { lines: ['Host: y'] }, [broken]),
  wire('one host twice', { lines: ['Host: x'] }, [broken]),
  wire('two hosts and an absolute target', { target: 'http://x/evm-chain', lines: ['host: x'] }, [broken]),
  ...['[::1]:8080', 'a_b.example:1', '127.0.0.1', 'xn--bcher-kva.example', 'x:'].map(host =>
    wire(`a host of ${host}`, { host }, [answered()])
  ),
  wire('no host in HTTP/1.0', { line: 'POST /evm-chain HTTP/1.0', host: null }, [answered()], false),
  wire('two hosts in HTTP/1.0', { line: 'POST /evm-chain HTTP/1.0', lines: ['Host: y'] }, [broken]),

  wire('two credentials, the first right', { lines: ['Authorization: Basic eDp5'] }, [unknown]),
  wire('two credentials, both right', { lines: [`authorization: ${authorization}`] }, [unknown]),
  wire('two media types', { lines: ['Content-Type: text/plain'] }, [notJson]),
  wire('one media type twice', { lines: ['content-type: application/json'] }, [notJson]),
  wire('two content encodings', { lines: ['Content-Encoding: identity', 'Content-Encoding: gzip'] }, [
    notJson
  ]),
  wire('two origins', { lines: ['Origin: https://dapp.example', 'Origin: https://dapp.example'] }, [
    answered()
  ]),
  wire('credentials that Connection names', { lines: ['Connection: authorization, content-type'] }, [
    answered()
  ]),
  wire('a name with an underscore', { lines: ['Content_Length: 1', 'Transfer_Encoding: chunked'] }, [
    answered()
  ]),

  wire('a header of 17,000 characters', { lines: [`X-A: ${'x'.repeat(17_000)}`] }, [tooLarge]),
  wire('a name of 17,000 characters', { lines: [`${'x'.repeat(17_000)}: a`] }, [tooLarge]),
  wire('200 headers', { lines: Array(200).fill('a:b') }, [tooLarge]),
  wire('5,000 headers', { lines: Array(5_000).fill('a:') }, [tooLarge]),
  wire(
    'credentials again behind too many headers',
    { lines: [...Array(2_100).fill('a:'), 'Authorization: Basic eDp5'] },
    [tooLarge]
  ),
  wire('as many headers as allowed', { lines: Array(limits.headerFields - 4).fill('a: b') }, [answered()]),
  wire('one header more than allowed', { lines: Array(limits.headerFields - 3).fill('a: b') }, [tooLarge]),

  wire('an unknown expectation', { lines: ['Expect: miracles'] }, [unmet]),
  wire('two expectations', { lines: ['Expect: 100-continue', 'Expect: 100-continue'] }, [unmet]),
  wire('an expectation and another one', { lines: ['Expect: 100-continue, x'] }, [unmet]),
  wire('an expectation with a parameter', { lines: ['Expect: 100-continue; a=b'] }, [unmet]),
  wire('an empty expectation', { lines: ['Expect:'] }, [unmet]),
  wire(
    'an expectation in HTTP/1.0',
    { line: 'POST /evm-chain HTTP/1.0', lines: ['Expect: x'] },
    [answered()],
    false
  ),
  wire('an expectation of a body that is there', { lines: ['Expect: 100-Continue'] }, [answered()], false),
  wire(
    'an expectation of a body that is refused',
    { lines: ['Expect: 100-continue', 'Authorization: x'], body: '', length: '10' },
    [unknown],
    false
  ),
  wire(
    'an expectation of a body too large',
    { lines: ['Expect: 100-continue'], body: '', length: '99999999' },
    [refused(413, 'BODY_TOO_LARGE')],
    false
  ),

  ...(
    [
      ['HTTP/2', ['Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']],
      ['a WebSocket', ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: eA==']],
      ['TLS', ['Upgrade: TLS/1.0']],
      ['what nobody knows', ['Upgrade: x/1']]
    ] as const
  ).map(([name, lines]) =>
    wire(`an upgrade to ${name}`, { lines: ['Connection: close, Upgrade', ...lines] }, [answered()], false)
  ),
  wire(
    'an upgrade of a GET',
    { verb: 'GET', lines: ['Connection: close, Upgrade', 'Upgrade: websocket'], body: '', length: null },
    [refused(405, 'METHOD_NOT_ALLOWED')],
    false
  ),
  wire('a body for a page that takes none', { verb: 'GET', body: call({ id: '66' }) }, [
    refused(405, 'METHOD_NOT_ALLOWED')
  ]),
  wire('a body for a preflight', { verb: 'OPTIONS', body: call({ id: '66' }) }, [
    { status: 204, empty: true }
  ]),
  wire(
    'a preflight for another verb and every header',
    {
      verb: 'OPTIONS',
      body: '',
      lines: [
        'Origin: https://evil.example',
        'Access-Control-Request-Method: DELETE',
        'Access-Control-Request-Headers: *'
      ]
    },
    [{ status: 204, empty: true }]
  )
]

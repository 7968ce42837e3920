import { authorization } from '../http/startService.ts'
import { answered, type CallCase, call, refused } from './AbuseCase.ts'

const basic = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`
const unknown = refused(401, 'UNAUTHENTICATED')
const notJson = refused(415, 'UNSUPPORTED_MEDIA_TYPE')
const foreign = refused(403, 'FORBIDDEN_ORIGIN')
const clientKey = basic('demo:demo-client-key')

const credentials: readonly [string, string | null][] = [
  ['no credentials', null],
  ['empty credentials', ''],
  ['a scheme alone', 'Basic'],
  ['a wrong key', basic('demo:wrong')],
  ['an empty key', basic('demo:')],
  ['the right key with a NUL behind it', basic('demo:demo-server-key\0')],
  ['the right key with a line break behind it', basic('demo:demo-server-key\n')],
  ['the right key with a space before it', basic('demo: demo-server-key')],
  ['the beginning of the right key', basic('demo:demo-server')],
  ['the right key in another case', basic('demo:DEMO-SERVER-KEY')],
  ['another project', basic('other:demo-server-key')],
  ['no project', basic(':demo-server-key')],
  ['a project named __proto__', basic('__proto__:demo-server-key')],
  ['a project named constructor', basic('constructor:demo-server-key')],
  ['no colon', basic('demo')],
  ['nothing in them', 'Basic '],
  ['bytes that are not UTF-8', basic(Buffer.from([0xff, 0xfe, 0x3a, 0xff]))],
  ['two colons', basic('demo:demo-server-key:x')],
  ['another scheme', 'Bearer demo-server-key'],
  ['a scheme in front of another one', `Digest ${authorization}`],
  ['no base64', 'Basic demo:demo-server-key'],
  [
    'base64 with spaces in it',
    `Basic ${Buffer.from('demo:demo-server-key').toString('base64').replace('k', ' k')}`
  ],
  ['base64 without its padding', authorization.replace(/=+$/, '')],
  ['base64 of URLs', `Basic ${Buffer.from('demo:~~~???').toString('base64url')}`],
  ['something behind the base64', `${authorization}, x`],
  ['the right ones twice', `${authorization}, ${authorization}`],
  ['8,000 characters', basic('x'.repeat(6_000))],
  ['the digest in place of the key', basic('demo:hmac-sha256:AAAAAAAAAAAAAAAAAAAAAA:BBBB')]
]

const types: readonly [string, string | null][] = [
  ['none', null],
  ['an empty one', ''],
  ['text', 'text/plain'],
  ['a form', 'application/x-www-form-urlencoded'],
  ['parts', 'multipart/form-data; boundary=x'],
  ['JSON as text', 'text/json'],
  ['JSON with a suffix', 'application/json-rpc'],
  ['a type that begins alike', 'application/jsonx'],
  ['a structured suffix', 'application/problem+json'],
  ['JSON lines', 'application/x-ndjson'],
  ['JSON and text', 'application/json, text/plain'],
  ['text and JSON', 'text/plain, application/json'],
  ['JSON twice', 'application/json, application/json'],
  ['text with JSON as parameter', 'text/plain; application/json'],
  ['any', '*/*'],
  ['UTF-16', 'application/json; charset=utf-16'],
  ['UTF-7', 'application/json; charset=utf-7'],
  ['Latin-1', 'application/json; charset=iso-8859-1'],
  ['two charsets', 'application/json; charset=utf-8; charset=utf-16'],
  ['a charset in half a pair of quotes', 'application/json; charset="utf-8'],
  ['an empty charset', 'application/json; charset='],
  ['another parameter', 'application/json; boundary=x'],
  ['a space inside', 'application /json'],
  ['a NUL percent-encoded', 'application/json%00']
]

/** Who calls, in which media type and encoding, and from where. */
export const credentialsCases: readonly CallCase[] = [
  ...credentials.map(([name, header]) => ({
    name: `credentials: ${name}`,
    body: call(),
    headers: { authorization: header },
    expect: unknown
  })),
  {
    name: 'credentials: another case of the scheme, more spaces',
    body: call(),
    headers: { authorization: authorization.replace('Basic ', 'bASIC   ') },
    expect: answered()
  },
  {
    name: 'credentials: in the URL',
    target: `/evm-chain?authorization=${encodeURIComponent(authorization)}&key=demo-server-key`,
    body: call(),
    headers: { authorization: null },
    expect: unknown
  },
  {
    name: 'credentials: for a proxy',
    body: call(),
    headers: {
      authorization: null,
      'proxy-authorization': authorization,
      cookie: `authorization=${authorization}`
    },
    expect: unknown
  },

  ...types.map(([name, header]) => ({
    name: `a media type: ${name}`,
    body: call(),
    headers: { 'content-type': header },
    expect: notJson
  })),
  ...['application/json;charset=UTF-8', 'APPLICATION/JSON ; charset="utf-8"', 'application/json;'].map(
    header => ({
      name: `a media type of JSON: ${header}`,
      body: call(),
      headers: { 'content-type': header },
      expect: answered()
    })
  ),
  ...['gzip', 'br', 'deflate', 'zstd', 'identity, gzip', 'identity, identity', 'utf-8', ''].map(header => ({
    name: `a content encoding of ${JSON.stringify(header)}`,
    body: call(),
    headers: { 'content-encoding': header },
    expect: notJson
  })),
  {
    name: 'a content encoding of identity',
    body: call(),
    headers: { 'content-encoding': 'IDENTITY' },
    expect: answered()
  },

  ...(
    [
      ['none', null],
      ['null', 'null'],
      ['another one', 'https://evil.example'],
      ['one that begins alike', 'https://dapp.example.evil'],
      ['one that ends alike', 'https://evil-dapp.example'],
      ['another scheme', 'http://dapp.example'],
      ['another port', 'https://dapp.example:8443'],
      ['two of them', 'https://dapp.example, https://dapp.example'],
      ['a path behind it', 'https://dapp.example/'],
      ['a star', '*']
    ] as const
  ).map(([name, origin]) => ({
    name: `a client key from an origin: ${name}`,
    body: call(),
    headers: { authorization: clientKey, origin },
    expect: foreign
  })),
  {
    name: 'a client key from its origin',
    body: call(),
    headers: { authorization: clientKey, origin: 'https://dapp.example' },
    expect: answered()
  },
  {
    name: 'a referer in place of an origin',
    body: call(),
    headers: { authorization: clientKey, referer: 'https://dapp.example/' },
    expect: foreign
  },

  ...(
    [
      ['the verb of another request', { 'x-http-method-override': 'DELETE', 'x-method-override': 'GET' }],
      ['the path of another request', { 'x-original-url': '/metrics', 'x-rewrite-url': '/metrics' }],
      [
        'conditions',
        { 'if-none-match': '*', 'if-modified-since': 'x', 'if-range': '"x"', 'if-match': '"y"' }
      ],
      ['a range', { range: 'bytes=0-1' }],
      ['a thousand ranges', { range: `bytes=${Array(1_000).fill('0-').join()}` }],
      [
        'who asks, falsely',
        { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' }
      ],
      ['a request id', { 'x-request-id': '../../etc/passwd' }],
      [
        'what is accepted',
        { accept: 'text/html', 'accept-encoding': 'br;q=1, *;q=0', 'accept-charset': 'utf-16' }
      ],
      ['cookies', { cookie: `__proto__=1; ${'a=b; '.repeat(500)}` }],
      ['a jump into a shell', { 'user-agent': '() { :; }; echo x', 'x-api-version': '#{jndi:ldap://x/a}' }]
    ] as const
  ).map(([name, headers]) => ({
    name: `headers that mean nothing here: ${name}`,
    body: call(),
    headers,
    expect: answered()
  })),
  {
    name: 'a header that names the method',
    body: call({ method: '"nope"' }),
    headers: { 'x-method': 'svc_getSyncStatus' },
    expect: { status: 200, reason: 'METHOD_NOT_FOUND', id: '5' }
  }
]

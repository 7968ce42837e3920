import { gzipSync } from 'node:zlib'
import { limits } from '@chain-data/protocol'
import { answered, type CallCase, call, failed, refused } from './AbuseCase.ts'

const good = call()
const mebibyte = limits.bodyBytes
const notJson = failed('PARSE_ERROR', 'null')
const notRequest = failed('INVALID_REQUEST', 'null', '')
const tooDeep = failed('INVALID_REQUEST', 'null')
const nested = (depth: number, open: string, inner: string, close: string) =>
  open.repeat(depth) + inner + close.repeat(depth)

const texts: readonly [string, string][] = [
  ['nothing', ''],
  ['a space', ' '],
  ['an open brace', '{'],
  ['a closing bracket', ']'],
  ['a request without its end', good.slice(0, -1)],
  ['a request and a brace', `${good}}`],
  ['two requests', good + good],
  ['requests in lines', `${good}\n${good}`],
  ['a request and a NUL', `${good}\0`],
  ['a byte order mark', `\uFEFF${good}`],
  ['a guard against scripts', `)]}'\n${good}`],
  ['a callback', `callback(${good})`],
  ['a comment', `${good.slice(0, -1)}/* */}`],
  ['a trailing comma in an object', `${good.slice(0, -1)},}`],
  ['a trailing comma in a batch', `[${good},]`],
  ['single quotes', good.replaceAll('"', "'")],
  ['names without quotes', '{jsonrpc:"2.0"}'],
  ['NaN', call({ id: 'NaN' })],
  ['Infinity', call({ id: 'Infinity' })],
  ['undefined', call({ params: 'undefined' })],
  ['a plus sign', call({ id: '+1' })],
  ['a leading zero', call({ id: '01' })],
  ['a fraction without a whole', call({ id: '.5' })],
  ['a point without a fraction', call({ id: '1.' })],
  ['an exponent without digits', call({ id: '1e' })],
  ['a hexadecimal number', call({ id: '0x10' })],
  ['a number with separators', call({ id: '1_000' })],
  ['an escape of another language', call({ id: '"\\x41"' })],
  ['an escape cut short', call({ id: '"\\u12"' })],
  ['text without its end', '{"jsonrpc":"2.0'],
  ['a line break in text', call({ id: '"a\nb"' })],
  ['a NUL in text', call({ id: '"a\0b"' })],
  ['a vertical tab between members', good.replace(',', ',\v')],
  ['a no-break space before it', `\u00a0${good}`],
  ['a form', 'jsonrpc=2.0&method=svc_getSyncStatus'],
  ['XML', '<?xml version="1.0"?><methodCall/>'],
  ['a head', `POST /evm-chain HTTP/1.1\r\nHost: x\r\n\r\n${good}`]
]

const bytes: readonly [string, Buffer][] = [
  ['UTF-16, little end first', Buffer.from(`\uFEFF${good}`, 'utf16le')],
  ['UTF-16, big end first', Buffer.from(`\uFEFF${good}`, 'utf16le').swap16()],
  ['UTF-16 without a mark', Buffer.from(good, 'utf16le')],
  ['Latin-1', Buffer.from(call({ id: '"é"' }), 'latin1')],
  ['an overlong quote', around([0xc0, 0xa2])],
  ['an overlong NUL', around([0xc0, 0x80])],
  ['a surrogate in UTF-8', around([0xed, 0xa0, 0x80])],
  ['a code point beyond the last', around([0xf4, 0x90, 0x80, 0x80])],
  ['a character of five bytes', around([0xf8, 0x88, 0x80, 0x80, 0x80])],
  ['a lone continuation byte', around([0x80])],
  ['a character cut short', Buffer.concat([Buffer.from(good), Buffer.from([0xf0, 0x9f])])],
  ['gzip that nobody announced', gzipSync(good)],
  ['MessagePack', Buffer.from([0x81, 0xa7, 0x6a, 0x73, 0x6f, 0x6e, 0x72, 0x70, 0x63])]
]

function around(middle: readonly number[]): Buffer {
  const [before = '', after = ''] = call({ id: '"|"' }).split('|')
  return Buffer.concat([Buffer.from(before), Buffer.from(middle), Buffer.from(after)])
}

/** What may stand in a body: no JSON, no text, other values than requests, batches, depth and size. */
export const bodiesCases: readonly CallCase[] = [
  ...texts.map(([name, body]) => ({ name: `a body of ${name}`, body, expect: notJson })),
  ...bytes.map(([name, body]) => ({ name: `a body of ${name}`, body, expect: notJson })),

  ...['7', '"x"', 'null', 'true', '-0', '1e400'].map(body => ({
    name: `a body of ${body}`,
    body,
    expect: notRequest
  })),
  { name: 'a body without members', body: '{}', expect: failed('INVALID_REQUEST', '1', '/jsonrpc') },

  { name: 'an empty batch', body: '[]', expect: tooDeep },
  { name: 'an empty batch with spaces', body: ' [ \n ] ', expect: tooDeep },
  { name: 'a batch of 101', body: `[${Array(101).fill(good)}]`, expect: tooDeep },
  { name: 'a batch of half a million zeros', body: `[${Array(500_000).fill('0')}]`, expect: tooDeep },
  { name: 'a batch of 300,000 empty objects', body: `[${Array(300_000).fill('{}')}]`, expect: tooDeep },
  {
    name: 'a batch of 100 large requests',
    body: `[${Array(100).fill(call({}, `,"x":"${'y'.repeat(10_000)}"`))}]`,
    expect: { status: 200, entries: Array(100).fill(answered()) }
  },
  {
    name: 'a batch of everything but requests',
    body: '[7,null,"x",[],[[]],{}]',
    expect: {
      status: 200,
      entries: [...Array(5).fill(notRequest), failed('INVALID_REQUEST', '1', '/jsonrpc')]
    }
  },
  {
    name: 'a batch in a batch',
    body: `[[${good}],${good}]`,
    expect: { status: 200, entries: [notRequest, answered()] }
  },
  {
    name: 'a batch of one id for all',
    body: `[${good},${call({ method: '"nope"' })},${good}]`,
    expect: { status: 200, entries: [answered(), failed('METHOD_NOT_FOUND'), answered()] }
  },
  {
    name: 'a batch in which one request has two methods',
    body: `[${call({ id: '1' })},${call({ id: '2' }, ',"method":"x"')},${call({ id: '3' })}]`,
    expect: {
      status: 200,
      entries: [answered('1'), failed('INVALID_REQUEST', '2', '/method'), answered('3')]
    }
  },
  {
    name: 'a batch of ids that a parser would round to one',
    body: `[${call({ id: '9007199254740991' })},${call({ id: '9007199254740993' })},${call({ id: '1.0' })}]`,
    expect: {
      status: 200,
      entries: [answered('9007199254740991'), failed('INVALID_REQUEST', 'null', '/id'), answered('1.0')]
    }
  },

  { name: '65 lists in each other', body: nested(65, '[', '', ']'), expect: tooDeep },
  { name: '65 objects in each other', body: nested(65, '{"a":', '1', '}'), expect: tooDeep },
  {
    name: '64 lists in each other',
    body: nested(64, '[', '', ']'),
    expect: { status: 200, entries: [notRequest] }
  },
  { name: 'a mebibyte of open brackets', body: '['.repeat(mebibyte), expect: tooDeep },
  { name: 'a mebibyte of open objects', body: '{"a":'.repeat(mebibyte / 5), expect: tooDeep },
  { name: 'params nested too deep', body: call({ params: nested(64, '[', '', ']') }), expect: tooDeep },
  {
    name: 'params nested as deep as allowed',
    body: call({ params: nested(63, '[', '', ']') }),
    expect: failed('INVALID_PARAMS', '5', '/params')
  },
  {
    name: 'a meaningless member nested too deep',
    body: call({}, `,"x":${nested(64, '{"a":', '1', '}')}`),
    expect: tooDeep
  },
  {
    name: 'brackets in text',
    body: call({ id: `"${'['.repeat(200)}"` }),
    expect: answered(`"${'['.repeat(200)}"`)
  },

  { name: 'exactly as many bytes as allowed', body: good.padEnd(mebibyte), expect: answered() },
  {
    name: 'one byte more than allowed',
    body: good.padEnd(mebibyte + 1),
    expect: refused(413, 'BODY_TOO_LARGE')
  },
  {
    name: 'more bytes than allowed, though not characters',
    body: call({}, `,"x":"${'é'.repeat(mebibyte / 2)}"`),
    expect: refused(413, 'BODY_TOO_LARGE')
  },
  { name: 'a mebibyte of spaces', body: ' '.repeat(mebibyte), expect: notJson },
  {
    name: 'a hundred thousand members',
    body: call({}, Array.from({ length: 100_000 }, (_, at) => `,"${at}":0`).join('')),
    expect: answered()
  },
  {
    name: 'a member name of a million characters',
    body: call({}, `,"${'k'.repeat(1_000_000)}":0`),
    expect: answered()
  },
  {
    name: 'a number of a million digits',
    body: call({ params: `[${'9'.repeat(1_000_000)}]` }),
    expect: failed('INVALID_PARAMS', '5', '/params')
  },
  {
    name: 'a million backslashes',
    body: call({}, `,"x":"${'\\\\'.repeat(500_000)}"`),
    expect: answered()
  }
]

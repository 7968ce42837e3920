import { answered, call, failed, refused, type WireCase } from './AbuseCase.ts'
import { chunk, requestBytes, wire } from './wire.ts'

const good = call()
const broken = refused(400)
const coding = refused(501)
const chunked = 'Transfer-Encoding: chunked'
const size = good.length.toString(16)
const end = '0\r\n\r\n'
/** A request that must never be answered: it stands inside another one, for whoever reads the lengths otherwise. */
const smuggled = requestBytes({ body: call({ id: '"smuggled"' }) })

const inChunks = (
  name: string,
  lines: readonly string[],
  body: string,
  ...expect: Parameters<typeof wire>[2][number][]
) => wire(name, { lines, body, length: null }, expect)

const codings: readonly [string, readonly string[], boolean][] = [
  ['gzip, chunked', ['Transfer-Encoding: gzip, chunked'], true],
  ['gzip alone', ['Transfer-Encoding: gzip'], true],
  ['chunked, gzip', ['Transfer-Encoding: chunked, gzip'], false],
  ['chunked twice in a line', ['Transfer-Encoding: chunked, chunked'], false],
  ['chunked in two lines', [chunked, chunked], false],
  ['identity, then chunked in another line', ['Transfer-Encoding: identity', chunked], true],
  ['chunked, then identity in another line', [chunked, 'Transfer-Encoding: identity'], false],
  ['an x before chunked', ['Transfer-Encoding: xchunked'], true],
  ['chunked in quotes', ['Transfer-Encoding: "chunked"'], true],
  ['chunked with a parameter', ['Transfer-Encoding: chunked;x=1'], true],
  ['identity alone', ['Transfer-Encoding: identity'], true],
  ['a comma before chunked', ['Transfer-Encoding: ,chunked'], true],
  ['a comma behind chunked', ['Transfer-Encoding: chunked,'], false],
  ['a vertical tab before chunked', ['Transfer-Encoding:\vchunked'], false],
  ['a NUL behind chunked', ['Transfer-Encoding: chunked\0'], false],
  ['a space before the colon', ['Transfer-Encoding : chunked'], false],
  ['a space before its name', [' Transfer-Encoding: chunked'], false],
  ['a fold before chunked', ['Transfer-Encoding:\r\n chunked'], false],
  ['a bare LF before its name', [`X-A: a\n${chunked}`], false],
  ['a bare CR before its name', [`X-A: a\r${chunked}`], false]
]

const lengths: readonly [string, string][] = [
  ['a sign', `+${good.length}`],
  ['a negative number', '-1'],
  ['hexadecimal', '0x10'],
  ['an exponent', '1e3'],
  ['a fraction', '10.0'],
  ['a list', `${good.length}, ${good.length}`],
  ['a list of two', `${good.length}, 0`],
  ['a space inside', '1 0'],
  ['nothing', ''],
  ['letters', 'ten'],
  ['2^64', '18446744073709551616'],
  ['forty digits', '9'.repeat(40)],
  ['a digit of another script', '\xd9\xa1']
]

const chunkSizes: readonly [string, string][] = [
  ['a 0x', `0x${size}`],
  ['a sign', `+${size}`],
  ['a negative number', '-1'],
  ['a space before it', ` ${size}`],
  ['a space behind it', `${size} `],
  ['a tab behind it', `${size}\t`],
  ['nothing', ''],
  ['a letter that is no digit', `${size}g`],
  ['an underscore', '1_0'],
  ['more than 64 bits', 'f'.repeat(17)]
]

/** Where a request ends: lengths, codings, chunks, trailers, and what follows. */
export const framingCases: readonly WireCase[] = [
  // Length and chunks at once: the ways in which a proxy in front and this server would part company.
  wire('a length and chunks', { lines: [chunked], body: `${end}${smuggled}` }, [broken]),
  wire(
    'chunks and a length',
    { lines: ['Content-Length: 4', chunked], body: chunk(good) + end, length: null },
    [broken]
  ),
  wire('a length of zero and chunks', { lines: [chunked], body: chunk(smuggled) + end, length: '0' }, [
    broken
  ]),
  wire('a length and a coding of identity', { lines: ['Transfer-Encoding: identity'] }, [broken]),
  wire('a length and an empty coding', { lines: ['Transfer-Encoding:'] }, [broken]),
  wire('two lengths', { lines: ['Content-Length: 0'], body: good }, [broken]),
  wire('one length twice', { lines: [`Content-Length: ${good.length}`] }, [broken]),
  ...lengths.map(([name, length]) => wire(`a length of ${name}`, { length }, [broken])),
  wire('a length with zeros before it', { length: `000${good.length}` }, [answered()]),
  wire('a length with spaces around it', { length: `  ${good.length} \t` }, [answered()]),
  wire('a length shorter than the body', { length: String(good.length - 5) }, [
    failed('PARSE_ERROR', 'null'),
    broken
  ]),
  wire('no length before a body', { length: null }, [failed('PARSE_ERROR', 'null'), broken]),
  wire('neither length nor body', { length: null, body: '' }, [failed('PARSE_ERROR', 'null')]),

  ...codings.map(([name, lines, isKnown]) =>
    inChunks(`a coding: ${name}`, lines, chunk(smuggled) + end, isKnown ? coding : broken)
  ),
  wire(
    'chunks in HTTP/1.0',
    { line: 'POST /evm-chain HTTP/1.0', lines: [chunked], body: chunk(good) + end, length: null },
    [broken]
  ),
  inChunks('chunks, announced in upper case', ['TRANSFER-ENCODING: CHUNKED'], chunk(good) + end, answered()),
  inChunks('chunks, announced behind a tab', ['Transfer-Encoding:\tchunked'], chunk(good) + end, answered()),
  inChunks('chunks of one byte', [chunked], [...good].map(chunk).join('') + end, answered()),

  ...chunkSizes.map(([name, text]) =>
    inChunks(`a chunk size with ${name}`, [chunked], `${text}\r\n${good}\r\n${end}`, broken)
  ),
  inChunks('a chunk size with zeros before it', [chunked], `000000${size}\r\n${good}\r\n${end}`, answered()),
  inChunks('a chunk size that ends with LF', [chunked], `${size}\n${good}\r\n${end}`, broken),
  inChunks('a chunk without its end', [chunked], `${size}\r\n${good}${end}`, broken),
  inChunks(
    'a chunk shorter than its size',
    [chunked],
    `${(good.length + 2).toString(16)}\r\n${good}\r\n${end}`,
    broken
  ),
  inChunks('a chunk longer than its size', [chunked], `1\r\n${good}\r\n${end}`, broken),
  inChunks('a last chunk with two zeros', [chunked], `${chunk(good)}00\r\n\r\n`, answered()),
  inChunks('an extension', [chunked], `${size};a=b\r\n${good}\r\n${end}`, answered()),
  inChunks('an extension in quotes', [chunked], `${size};a="b;c"\r\n${good}\r\n${end}`, answered()),
  inChunks('an extension that ends with LF', [chunked], `${size};a\n${good}\r\n${end}`, broken),
  inChunks('an extension with a bare CR', [chunked], `${size};a\rb\r\n${good}\r\n${end}`, broken),
  wire(
    'an extension of 17,000 characters',
    { lines: [chunked], body: `${size};${'x'.repeat(17_000)}\r\n${good}\r\n${end}`, length: null },
    [refused(413, 'BODY_TOO_LARGE')],
    false
  ),
  inChunks(
    'more bytes in chunks than allowed',
    [chunked],
    chunk('x'.repeat(65_536)).repeat(17) + end,
    refused(413, 'BODY_TOO_LARGE')
  ),

  inChunks('a trailer', [chunked, 'Trailer: X-T'], `${chunk(good)}0\r\nX-T: 1\r\n\r\n`, answered()),
  inChunks('a trailer with a length', [chunked], `${chunk(good)}0\r\nContent-Length: 9\r\n\r\n`, broken),
  inChunks(
    'a trailer with a coding',
    [chunked],
    `${chunk(good)}0\r\nTransfer-Encoding: chunked\r\n\r\n`,
    broken
  ),
  inChunks(
    'a trailer with another media type',
    [chunked],
    `${chunk(good)}0\r\nContent-Type: text/plain\r\n\r\n`,
    answered()
  ),
  inChunks(
    'a trailer with other credentials',
    [chunked],
    `${chunk(good)}0\r\nAuthorization: Basic eDp5\r\n\r\n`,
    answered()
  ),
  inChunks('a trailer with a space in its name', [chunked], `${chunk(good)}0\r\nX T: 1\r\n\r\n`, broken),
  inChunks(
    'a trailer of 20,000 characters',
    [chunked],
    `${chunk(good)}0\r\nX-T: ${'x'.repeat(20_000)}\r\n\r\n`,
    refused(431)
  ),
  {
    name: 'credentials that come as a trailer',
    bytes: requestBytes({
      lines: [chunked],
      body: `${chunk(good)}0\r\nAuthorization: Basic ZGVtbzpkZW1v\r\n\r\n`,
      length: null
    }).replace(/^Authorization: .*\r\n/m, ''),
    expect: [refused(401, 'UNAUTHENTICATED')],
    kept: true
  },

  // Requests behind one another.
  {
    name: 'a request inside the body of one that is refused',
    bytes: requestBytes({ body: smuggled }).replace(/^Authorization: .*\r\n/m, ''),
    expect: [refused(401, 'UNAUTHENTICATED')],
    kept: true
  },
  {
    name: 'a request behind one whose coding is unknown',
    bytes:
      requestBytes({ lines: ['Transfer-Encoding: gzip, chunked'], body: chunk(good) + end, length: null }) +
      smuggled,
    expect: [coding],
    kept: false
  },
  {
    name: 'a request behind one without a host',
    bytes: requestBytes({ host: null }) + smuggled,
    expect: [broken],
    kept: false
  },
  {
    name: 'a request behind one that ends the connection',
    bytes: requestBytes({ lines: ['Connection: close'] }) + smuggled,
    expect: [answered()],
    kept: false
  },
  {
    name: 'twenty requests at once',
    bytes: Array.from({ length: 20 }, (_, id) => requestBytes({ body: call({ id: String(id) }) })).join(''),
    expect: Array.from({ length: 20 }, (_, id) => answered(String(id))),
    kept: true
  },
  {
    name: 'a request, then bytes that are none',
    bytes: `${requestBytes({})}\x00\x01\x02\r\n\r\n`,
    expect: [answered(), broken],
    kept: false
  },
  {
    name: 'line breaks between requests',
    bytes: `${requestBytes({})}\r\n\r\n${requestBytes({ body: call({ id: '6' }) })}`,
    expect: [answered(), answered('6')],
    kept: true
  }
]

import { address } from './rawBlock.ts'

/** What may stand in the place of a member; `undefined` leaves it out. */
const oddValues: readonly unknown[] = [
  ...[
    undefined,
    null,
    '',
    '0x',
    '0x0',
    '0x1',
    '0x2',
    '0x7f',
    '0x00000000000000005',
    '0xG',
    'x',
    '1',
    7,
    -1,
    1.5
  ],
  ...[
    true,
    false,
    [],
    {},
    ['0x1'],
    { a: '0x1' },
    '0x'.padEnd(66, '0'),
    '0x'.padEnd(66, 'f'),
    '0x'.padEnd(67, '1')
  ],
  ...[
    address(998),
    address(998).slice(2),
    `0X${'1'.repeat(40)}`,
    '0x'.padEnd(514, '0'),
    '0x'.padEnd(514, '3')
  ],
  ...['0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421', '\n', 'ä', '"', '\\']
]

/** Values that are no JSON, and two that are written with escapes. */
const oddTexts = [
  '007',
  '-',
  '-0',
  '+1',
  '.5',
  '1.',
  '1e3',
  'nul',
  'nulll',
  'True',
  "'0x1'",
  '"\t"',
  '"',
  '',
  '[1,]'
]
const escaped = ['"\\u0030x1"', '"a\\"b"', '{"a":1,}', '{"a"}', '[[[]]', '{"a":{"b":[null,true,0]}}']

/** The member left out, each odd value in its place, its own in upper case, and the member given twice. */
export function changesOf(whole: string, owner: Readonly<Record<string, unknown>>, name: string): string[] {
  const text = JSON.stringify(owner)
  const write = (value: unknown) => whole.replace(text, JSON.stringify({ ...owner, [name]: value }))
  const own = owner[name]
  const twice = (first: unknown) => `{${JSON.stringify(name)}:${JSON.stringify(first)},${text.slice(1)}`
  return [
    ...oddValues.map(write),
    ...[...oddTexts, ...escaped].map(odd => write('@odd@').replace('"@odd@"', () => odd)),
    ...(typeof own === 'string' ? [write(own.toUpperCase()), write(own.replace('0x', '0x00'))] : []),
    ...[null, own, '0x1'].map(first => whole.replace(text, twice(first)))
  ]
}

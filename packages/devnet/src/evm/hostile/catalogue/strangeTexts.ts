import { type HostileToken, listedToken } from '../HostileToken.ts'
import {
  bytes,
  bytes32Text,
  empty,
  longText,
  loops,
  reverts,
  type ScriptedAnswer,
  text
} from '../scriptedToken.ts'
import { plainToken, scriptedErc20 } from './scriptedEntries.ts'

const wordOf = (value: number) => value.toString(16).padStart(64, '0')

/** Key, description, what both name and symbol answer, and how they are shown. */
const cases: readonly (readonly [string, string, ScriptedAnswer, string])[] = [
  ['text-bytes32', 'tells its name as bytes32, in the way of MKR', bytes32Text('Maker'), 'Maker'],
  [
    'text-bytes32-full',
    'tells a bytes32 name without a zero byte',
    bytes32Text('x'.repeat(32)),
    'x'.repeat(32)
  ],
  ['text-invalid-utf8', 'has a name that is no UTF-8', text(new Uint8Array([0x41, 0xff, 0xc3, 0x42])), ''],
  [
    'text-bidirectional',
    'turns the direction of writing around in its name',
    text('\u202eCDSU\u202c \u2066USDC\u2069'),
    'CDSU USDC'
  ],
  [
    'text-zero-width',
    'hides zero-width characters in its name',
    text('U\u200bS\u200dD\u2060C\ufeff'),
    'USDC'
  ],
  ['text-control', 'has control characters in its name', text('US\u0000DC\u001b[31m\r\n\u0085'), 'USDC[31m'],
  [
    'text-html',
    'has HTML in its name; whoever shows it must escape it',
    text('<img src=x onerror=alert(1)><script>alert(2)</script>'),
    '<img src=x onerror=alert(1)><script>alert(2)</script>'
  ],
  ['text-300-code-points', 'has a name of 300 code points', text('🦍'.repeat(300)), '🦍'.repeat(255)],
  ['text-60-kB', 'has a name of 60 kB of zero bytes', longText(60_000), ''],
  ['text-300-kB', 'has a name of 300 kB', longText(300_000), ''],
  ['text-megabyte', 'has a name of a megabyte', longText(1_000_000), ''],
  ['text-loops', 'never ends when asked for its name', loops, ''],
  ['text-refused', 'refuses to tell its name', reverts, ''],
  ['text-empty-answer', 'answers nothing when asked for its name', empty, ''],
  ['text-blank', 'has a name of nothing but blanks', text('  \t '), ''],
  [
    'text-offset-beyond',
    'says that its name begins beyond the answer',
    bytes(`0x${'ff'.repeat(32)}${wordOf(0)}`),
    ''
  ],
  [
    'text-length-beyond',
    'says that its name is longer than the answer',
    bytes(`0x${wordOf(32)}${'ff'.repeat(32)}${'41'.repeat(32)}`),
    ''
  ]
]

/** Tokens with names and symbols that break readers, or that deceive people. */
export const strangeTexts: readonly HostileToken[] = cases.map(([key, about, answer, shown]) =>
  scriptedErc20(
    { key, about },
    { name: answer, symbol: answer },
    listedToken({ ...plainToken, name: shown, symbol: shown })
  )
)

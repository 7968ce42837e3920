import { expect, it } from 'vitest'
import { createCodingChoice } from './codedText.ts'

const choose = createCodingChoice(['zstd', 'gzip'])

it.each([
  ['zstd', 'zstd'],
  ['gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, compress, deflate, br', 'gzip'],
  ['*', 'zstd'],
  ['zstd;q=0.5, gzip;q=0.8', 'gzip'],
  ['zstd;q=0, *', 'gzip'],
  ['zstd;q=0,gzip;q=0.001', 'gzip'],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0, gzip', 'gzip, required'],
  ['*;q=0, gzip', 'gzip, required'],
  [' gzip ; q=1.000 ', 'gzip'],
  ['gzip;q=0.9, gzip;q=0, zstd;q=0.1', 'zstd'],
  [',,gzip,', 'gzip']
])('%j is answered with %s', (header, expected) => {
  const { coding, isRequired } = choose(header) ?? {}
  expect(isRequired ? `${coding}, required` : coding).toBe(expected)
})

it.each([
  undefined,
  '',
  'identity',
  'br',
  'deflate',
  'gzip;q=0',
  '*;q=0',
  'gzip;q=0, zstd;q=0.000',
  'identity, gzip;q=0.5',
  'gzip;q=2',
  'gzip;q=-1',
  'gzip;q=0.1234',
  'gzip;level=9',
  'gzip zstd',
  'gz\u0000ip',
  `gzip${','.repeat(1_000)}`,
  `${'a,'.repeat(400)}gzip`
])('%j is answered without a coding', header => {
  expect(choose(header)).toBe(undefined)
})

it('falls back to gzip where the process has no zstd', () => {
  expect(createCodingChoice(['gzip'])('zstd, gzip')?.coding).toBe('gzip')
  expect(createCodingChoice(['gzip'])('zstd')).toBe(undefined)
})

import { describe, expect, test } from 'vitest'
import {
  bytes,
  clock,
  duration,
  type Html,
  number,
  short
} from '../../src/features/operatorPages/statusPage/html.ts'

const textOf = ({ markup }: Html) => markup.replace(/<[^>]*>/g, '')

describe('what a person reads', () => {
  test.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [60, '1 min'],
    [119, '1 min'],
    [3_600, '1 h'],
    [12_000, '3 h 20 min'],
    [187_200, '2 d 4 h']
  ])('%d seconds are %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text)
  })

  test.each([
    [0, '0'],
    [0.0834, '0.083'],
    [1.25, '1.3'],
    [12.4, '12'],
    [15_298, '15,298']
  ])('the rate %d is %s', (value, text) => {
    expect(textOf(short(value))).toBe(text)
  })

  test.each([
    [242_728, '237 KiB'],
    [231_000_000, '220 MiB'],
    [657_129_996_288, '612 GiB']
  ])('%d bytes are %s', (value, text) => {
    expect(textOf(bytes(value))).toBe(text)
  })

  test('numbers are grouped by thousands, and their plain value is in the markup', () => {
    expect(number(19_426_587).markup).toBe('<data value="19426587">19,426,587</data>')
  })

  test('times say the zone, and their date is in the markup', () => {
    expect(textOf(clock(1_795_271_525))).toBe('14:32 UTC')
    expect(clock(1_795_271_525).markup).toContain('datetime="2026-11-21T14:32:05.000Z"')
  })
})

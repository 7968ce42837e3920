import { describe, expect, test } from 'vitest'
import { createFormat } from '../../src/server/http/statusPage/view/createFormat.ts'

const format = createFormat('en', 'UTC')

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
    expect(format.duration(seconds)).toBe(text)
  })

  test.each([
    [0, '0'],
    [0.0834, '0.083'],
    [1.25, '1.3'],
    [12.4, '12'],
    [15_298, '15,298']
  ])('the rate %d is %s', (value, text) => {
    expect(format.short(value)).toBe(text)
  })

  test.each([
    [242_728, '237 KiB'],
    [231_000_000, '220 MiB'],
    [657_129_996_288, '612 GiB']
  ])('%d bytes are %s', (value, text) => {
    expect(format.bytes(value)).toBe(text)
  })

  test('numbers are grouped as the reader groups them, times are in the zone of the reader', () => {
    const german = createFormat('de', 'Asia/Tokyo')
    expect([format.number(19_426_587), german.number(19_426_587)]).toEqual(['19,426,587', '19.426.587'])
    expect(format.clock(1_795_271_525)).toBe('14:32 UTC')
    expect(german.clock(1_795_271_525)).toMatch(/^23:32/)
  })
})

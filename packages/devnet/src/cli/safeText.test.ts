import { describe, expect, test } from 'vitest'
import { safeText, shorten } from './safeText.ts'

describe('safeText', () => {
  test('drops colours, cursor movements and window titles, sequence and all', () => {
    expect(safeText('\u001b[31mred\u001b[0m \u001b]0;owned\u0007title \u001b[2J\u009b1Ahere')).toBe(
      'red title here'
    )
  })

  test('keeps a text on its line', () => {
    expect(safeText('one\r\ntwo\tthree\u2028four')).toBe('one two three four')
  })

  test('drops bidi overrides and zero-width characters, so that nothing reads as something else', () => {
    expect(safeText('USD\u202eC\u2066T\u200b\ufeff')).toBe('USDCT')
  })

  test('drops NULs, lone surrogates and private characters', () => {
    expect(safeText('a\0b\ud800c\ue000d')).toBe('abcd')
  })

  test('keeps letters of every script and flattens piled-up marks', () => {
    expect(safeText('Größe 金 नमस्ते')).toBe('Größe 金 नमस्ते')
    expect(safeText(`Z${'\u0301'.repeat(50)}`)).toBe(`Z${'\u0301'.repeat(3)}`)
  })

  test('cuts by characters, not inside one', () => {
    expect(safeText('😀'.repeat(9), 5)).toBe('😀😀😀😀…')
  })
})

describe('shorten', () => {
  test('keeps both ends of an identifier', () => {
    expect(shorten('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')).toBe('0x7099…79C8')
    expect(shorten('short')).toBe('short')
  })
})

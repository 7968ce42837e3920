import { describe, expect, it } from 'vitest'
import { dayName, dayOf } from './days.ts'

const at = (text: string) => new Date(text).getTime() / 1000

describe('days of the timeline', () => {
  it('begin and end at midnight where the reader is', () => {
    expect(dayOf(at('2026-05-03T00:00:00'))).toBe(dayOf(at('2026-05-03T23:59:59')))
    expect(dayOf(at('2026-05-03T23:59:59'))).not.toBe(dayOf(at('2026-05-04T00:00:00')))
  })

  it('are called as people call them', () => {
    const now = dayOf(at('2026-05-04T00:10:00'))
    expect(dayName(at('2026-05-04T00:00:00'), now)).toBe('Today')
    expect(dayName(at('2026-05-03T00:00:00'), now)).toBe('Yesterday')
    expect(dayName(at('2026-05-02T23:59:59'), now)).not.toContain('2026')
    expect(dayName(at('2025-05-02T12:00:00'), now)).toContain('2025')
  })
})

import { describe, expect, it } from 'vitest'
import { readTogether } from './readOwned.ts'

/** A question that is answered at these slots in turn, and notes what it was asked for. */
function question(slots: readonly number[]) {
  const asked: (number | undefined)[] = []
  const ask = async (minContextSlot: number | undefined) => {
    const slot = slots[asked.push(minContextSlot) - 1]
    if (slot === undefined) throw new Error('asked too often')
    return { slot, value: `at ${slot}` }
  }
  return { ask, asked }
}

describe('answers that belong together', () => {
  it('are asked for once when they are of one slot', async () => {
    const [a, b] = [question([5]), question([5])]
    expect(await readTogether([a.ask, b.ask])).toEqual({
      ...{ values: ['at 5', 'at 5'], oldestSlot: 5, newestSlot: 5 }
    })
    expect([a.asked, b.asked]).toEqual([[undefined], [undefined]])
  })

  it('are asked for again where they are older than the newest', async () => {
    const [a, b, c] = [question([5, 6]), question([6]), question([4, 6])]
    expect(await readTogether([a.ask, b.ask, c.ask])).toEqual({
      ...{ values: ['at 6', 'at 6', 'at 6'], oldestSlot: 6, newestSlot: 6 }
    })
    expect([a.asked, b.asked, c.asked]).toEqual([[undefined, 6], [undefined], [undefined, 6]])
  })

  it('are taken with the slots they have when the cluster moves on every time', async () => {
    const [a, b] = [question([5, 7]), question([6, 8])]
    expect(await readTogether([a.ask, b.ask])).toEqual({
      ...{ values: ['at 7', 'at 8'], oldestSlot: 7, newestSlot: 8 }
    })
    expect([a.asked, b.asked]).toEqual([
      [undefined, 6],
      [undefined, 7]
    ])
  })

  it('fail as one when one question fails', async () => {
    const [a, b] = [question([5]), question([])]
    await expect(readTogether([a.ask, b.ask])).rejects.toThrow('asked too often')
  })
})

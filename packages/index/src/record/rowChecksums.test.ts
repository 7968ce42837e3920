import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressBytes } from './hexBytes.ts'
import {
  compareChecksums,
  findChecksum,
  isRowOf,
  partBounds,
  RowChecksums,
  readPartChecksum
} from './rowChecksums.ts'
import { toPosition } from './transactionId.ts'

const alice = `0x${'a1'.repeat(20)}` as const
/** In the same part as alice. */
const neighbour = `0xa1a2${'00'.repeat(18)}` as const
const ids = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 52 }), { minLength: 1, maxLength: 50 })

test('one lost row is named to its address, and to nobody else', () => {
  fc.assert(
    fc.property(ids, fc.nat(), (all, pick) => {
      const lost = all[pick % all.length] ?? 0
      const [written, found] = [new RowChecksums(), new RowChecksums()]
      for (const id of all) {
        for (const address of [alice, neighbour]) written.add(addressBytes(address), 0, id)
        found.add(addressBytes(neighbour), 0, id)
        if (id !== lost) found.add(addressBytes(alice), 0, id)
      }
      const compare = (address: `0x${string}`) =>
        compareChecksums(written.part(address), found.part(address), address)
      expect(compare(alice)).toEqual({ missing: [toPosition(lost)], unresolved: 0 })
      const { ofOther, ...rest } = compare(neighbour)
      expect(rest).toEqual({ missing: [], unresolved: 0 })
      expect(ofOther?.position).toEqual(toPosition(lost))
      expect(ofOther && isRowOf(ofOther, alice)).toBe(true)
    })
  )
})

test('what was taken out again leaves nothing, also over a page that was stored between', () => {
  fc.assert(
    fc.property(ids, all => {
      const checksums = new RowChecksums()
      for (const id of all) checksums.add(addressBytes(alice), 0, id)
      const stored = new RowChecksums()
      for (const [page, bytes] of checksums.takeChanged()) {
        stored.load(page, bytes)
        const place = findChecksum(alice)
        expect(readPartChecksum(bytes, place.offset)).toEqual(checksums.part(alice))
        expect(page).toBe(place.page)
      }
      for (const id of all) stored.subtract(addressBytes(alice), 0, id)
      expect(stored.part(alice)).toEqual([0, 0, 0, 0])
    })
  )
})

test('two lost rows and one too many look like one of somebody else, and fit nobody', () => {
  const [written, found] = [new RowChecksums(), new RowChecksums()]
  for (const id of [10, 20]) written.add(addressBytes(alice), 0, id)
  found.add(addressBytes(alice), 0, 25)
  const { ofOther, ...rest } = compareChecksums(written.part(alice), found.part(alice), alice)
  expect(rest).toEqual({ missing: [], unresolved: 0 })
  expect(ofOther?.position).toEqual(toPosition(5))
  for (const address of [alice, neighbour]) expect(ofOther && isRowOf(ofOther, address)).toBe(false)
})

test('several lost rows, or one too many, are counted and given to nobody', () => {
  const [written, found] = [new RowChecksums(), new RowChecksums()]
  for (const id of [1, 2, 3]) written.add(addressBytes(alice), 0, id)
  found.add(addressBytes(alice), 0, 2)
  expect(compareChecksums(written.part(alice), found.part(alice), alice)).toEqual({
    missing: [],
    unresolved: 2
  })
  expect(compareChecksums(found.part(alice), written.part(alice), alice)).toEqual({
    missing: [],
    unresolved: 2
  })
})

test('the bounds of a part hold its addresses and no others', () => {
  const { first, end } = partBounds(alice)
  expect(Buffer.compare(first, addressBytes(neighbour))).toBeLessThan(0)
  expect(Buffer.compare(addressBytes(neighbour), end ?? Buffer.alloc(0))).toBeLessThan(0)
  expect(Buffer.compare(end ?? Buffer.alloc(0), addressBytes(`0xa1b0${'00'.repeat(18)}`))).toBe(0)
  expect(partBounds(`0xffff${'00'.repeat(18)}`).end).toBeUndefined()
})

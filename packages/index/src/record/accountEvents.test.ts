import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryUint256 } from '../../test/arbitraries.ts'
import type { AccountEvent } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { decodeAccountEvents, encodeAccountEvents } from './accountEvents.ts'

const event: fc.Arbitrary<AccountEvent> = fc
  .tuple(
    fc.constantFrom('withdrawal', 'tip', 'reward', 'mint', 'authorization', 'creation', 'burn'),
    arbitraryUint256,
    fc.maxSafeNat()
  )
  .map(([kind, value, count]) => {
    if (kind === 'creation') return { kind, count }
    return kind === 'authorization' ? { kind, nonce: value } : { kind, amount: value }
  })
const events = fc.array(event, { maxLength: 6 })

describe('account events', () => {
  it('come back exactly', () => {
    fc.assert(
      fc.property(events, list => {
        expect(decodeAccountEvents(encodeAccountEvents(list))).toStrictEqual(list)
      })
    )
  })

  it('of two lists are joined as bytes', () => {
    fc.assert(
      fc.property(events, events, (one, other) => {
        const joined = Buffer.concat([encodeAccountEvents(one), encodeAccountEvents(other)])
        expect(decodeAccountEvents(joined)).toEqual([...one, ...other])
      })
    )
  })

  it('have stored numbers that never change', () => {
    const list: AccountEvent[] = [
      { kind: 'withdrawal', amount: 1n },
      { kind: 'tip', amount: 2n },
      { kind: 'reward', amount: 0n },
      { kind: 'mint', amount: 256n },
      { kind: 'authorization', nonce: 3n },
      { kind: 'creation', count: 4 },
      { kind: 'burn', amount: 5n }
    ]
    expect(encodeAccountEvents(list).toString('hex')).toBe(
      '000101' + '010102' + '0200' + '03020100' + '040103' + '050104' + '060105'
    )
  })

  it('that are damaged are a StoreError', () => {
    for (const bytes of [[7, 0], [0], [0, 2, 1], [1, 1, 0], [0, 65]]) {
      expect(() => decodeAccountEvents(Uint8Array.from(bytes)), `${bytes}`).toThrow(StoreError)
    }
    const amount = -1n
    expect(() => encodeAccountEvents([{ kind: 'tip', amount }])).toThrow(StoreError)
  })
})

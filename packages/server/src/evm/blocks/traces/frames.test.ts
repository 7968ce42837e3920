import type { Address } from '@chain-data/index'
import { describe, expect, it } from 'vitest'
import { type Frame, foldFrames, isEntangled } from './frames.ts'

const address = (digit: string) => `0x${digit.repeat(40)}` as const
const [a, b, c, d] = [address('a'), address('b'), address('c'), address('d')]
const root: Frame = { kind: 'call', depth: 0, from: a, to: b, value: 9n }
const call = (depth: number, change: Partial<Frame> = {}): Frame => ({
  kind: 'call',
  depth,
  from: b,
  to: c,
  value: 1n,
  ...change
})

describe('foldFrames', () => {
  it('goes on behind a step that failed, at its depth and above', () => {
    const frames = [
      root,
      call(1),
      call(2, { error: 'Reverted' }),
      call(3),
      call(4),
      call(2, { value: 2n }),
      call(1, { value: 3n })
    ]
    expect(foldFrames(frames, false).internal.map(({ value }) => value)).toEqual([1n, 2n, 3n])
  })

  it('keeps nothing inside a transaction that failed', () => {
    const frames = [{ ...root, error: 'out of gas' }, call(1), call(1, { kind: 'create' })]
    expect(foldFrames(frames, false)).toEqual({
      internal: [],
      creations: new Map(),
      burnt: new Map(),
      endsOlder: false
    })
  })

  it.each<[string, number]>([
    ['execution reverted', 1],
    ['Reverted', 1],
    ['out of gas', 1],
    ['contract address collision', 1],
    ['CreateCollision', 1],
    ['max code size exceeded', 1],
    ['execution reverted: insufficient balance', 1],
    ['insufficient balance for transfer', 0],
    ['Insufficient balance for transfer', 0],
    ['OutOfFunds', 0],
    ['max call depth exceeded', 0],
    ['CallTooDeep', 0],
    ['nonce uint64 overflow', 0]
  ])('knows whether a creation that failed with "%s" used a nonce', (error, count) => {
    const { to: _, ...creation } = call(1, { kind: 'create', error })
    expect(foldFrames([root, creation], false).creations.get(b) ?? 0).toBe(count)
  })

  it('takes no transfer before for what a contract leaves that names itself', () => {
    const frames = [root, call(1, { kind: 'selfdestruct', from: a, to: b, value: 9n })]
    expect(foldFrames(frames, false).internal).toEqual([])
  })

  it('knows in whose place delegated code runs', () => {
    const frames = [
      root,
      call(1, { kind: 'delegate', value: 5n }),
      call(2, { kind: 'selfdestruct', to: d, value: 5n })
    ]
    expect(foldFrames(frames, false).internal).toEqual([{ kind: 'selfdestruct', from: b, to: d, value: 5n }])
  })

  it('counts as burned what comes to a contract after its end, less what its code sends on', () => {
    const frames = [
      root,
      call(1, { kind: 'create', value: 4n }),
      call(2, { kind: 'selfdestruct', from: c, to: d, value: 4n }),
      call(1, { value: 7n }),
      call(2, { from: c, to: d, value: 2n }),
      call(1, { value: 1n }),
      call(2, { kind: 'selfdestruct', from: c, to: c, value: 6n })
    ]
    const { burnt, endsOlder } = foldFrames(frames, false)
    expect([burnt, endsOlder]).toEqual([new Map([[c, 6n]]), false])
  })
})

describe('isEntangled', () => {
  const step = (kind: Frame['kind'], depth: number, from: Address, to?: Address, value = 0n): Frame => ({
    kind,
    depth,
    from,
    value,
    ...(to === undefined ? { error: 'Reverted' } : { to })
  })
  const root = step('call', 0, a, b)

  it('is not what creates in its own place, also by the code of another, nor what is inside of a failure', () => {
    expect(isEntangled([root, step('create', 1, b, c), step('create', 2, c, d)])).toBe(false)
    expect(isEntangled([root, step('delegate', 1, b, c), step('create', 2, b, d)])).toBe(false)
    expect(isEntangled([root, step('create', 1, b), step('create', 2, d, c)])).toBe(false)
    expect(isEntangled([step('create', 0, a, b), step('create', 1, b, c)])).toBe(false)
    expect(isEntangled([root, step('selfdestruct', 1, b, c), step('create', 1, b, d)])).toBe(false)
  })

  it('is what creates itself', () => {
    expect(isEntangled([root, step('call', 1, b, c), step('create', 2, c, c, 5n)])).toBe(true)
  })

  it('is what delegated code does, told of the account whose code it is', () => {
    expect(isEntangled([root, step('delegate', 1, b, c), step('call', 2, b, d)])).toBe(false)
    expect(isEntangled([root, step('delegate', 1, b, c), step('call', 2, c, d)])).toBe(true)
  })

  it('is what another one is said to have created', () => {
    expect(isEntangled([step('create', 0, a, b), step('call', 1, b, c), step('create', 2, b, d)])).toBe(true)
  })
})

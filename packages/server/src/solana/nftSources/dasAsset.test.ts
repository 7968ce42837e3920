import fc from 'fast-check'
import { expect, it } from 'vitest'
import { formatSolanaAddress, parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { readDasAsset } from './dasAsset.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
const owner = formatSolanaAddress(new Uint8Array(32).fill(7))
const id = formatSolanaAddress(new Uint8Array(32).fill(8))

const whole = {
  id,
  content: { json_uri: 'https://u.example/1', metadata: { name: 'N', symbol: 'S' } },
  authorities: [{ address: owner, scopes: ['full'] }],
  compression: { compressed: true },
  royalty: { basis_points: 500, primary_sale_happened: false },
  creators: [{ address: owner, share: 100, verified: true }],
  ownership: { owner },
  mutable: true,
  burnt: false
}

/** Every place in the entry, as a path. */
function placesOf(value: unknown, path: readonly string[] = []): string[][] {
  const here = path.length === 0 ? [] : [[...path]]
  if (typeof value !== 'object' || value === null) return here
  return [...here, ...Object.entries(value).flatMap(([key, member]) => placesOf(member, [...path, key]))]
}

function withValueAt(path: readonly string[], value: unknown): unknown {
  const entry = structuredClone(whole) as Record<string, unknown>
  let parent = entry
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>
  parent[path.at(-1) ?? ''] = value
  return entry
}

it(`an entry with any one value replaced is lawful, left out or somebody else's (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`, () => {
  const kinds = new Map<string, number>()
  fc.assert(
    fc.property(
      fc.constantFrom(...placesOf(whole)),
      fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom(0, 255, 256, 65_535, 65_536, -1, 0.5, '', null, [], {})
      ),
      (path, value) => {
        let kind = 'foreign'
        try {
          const entry = readDasAsset(withValueAt(path, value), owner)
          kind = entry.kind
          if (entry.kind === 'compressed') {
            const { metadata } = entry.nft
            expect(parseSolanaAddress(entry.nft.mint)).toBeDefined()
            for (const text of [metadata.name, metadata.symbol, metadata.uri])
              expect(text).toBeTypeOf('string')
            expect(metadata.isMutable).toBeTypeOf('boolean')
            expect(metadata.sellerFeeBasisPoints).toBeGreaterThanOrEqual(0)
            expect(metadata.sellerFeeBasisPoints).toBeLessThanOrEqual(65_535)
            for (const creator of metadata.creators) {
              expect(parseSolanaAddress(creator.address)).toBeDefined()
              expect(Number.isInteger(creator.share) && creator.share >= 0 && creator.share <= 255).toBe(true)
            }
          }
        } catch (error) {
          if (!(error instanceof NodeContradictionError)) throw error
        }
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      }
    ),
    { seed, numRuns: 5_000 }
  )
  expect([...kinds.keys()].sort()).toEqual(['compressed', 'foreign', 'other', 'unreadable'])
})

it('anything else than an object is unreadable, and so is an object without an id', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(readDasAsset(value, owner)).toEqual({ kind: 'unreadable' })
    }),
    { seed, numRuns: 500 }
  )
})

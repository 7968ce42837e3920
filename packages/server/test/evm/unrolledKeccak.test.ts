import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { permutationFile, unrollKeccak } from '../../scripts/unrollKeccak.ts'

test('unrolling Keccak again gives the committed file', async () => {
  expect(unrollKeccak()).toBe(await readFile(permutationFile, 'utf8'))
})

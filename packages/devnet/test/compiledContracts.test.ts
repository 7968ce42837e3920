import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { artifactText, compileContracts } from '../scripts/compileContracts.ts'
import { hostileContractNames } from '../src/evm/hostile/hostileContract.ts'

test('compiling the contract sources again gives the committed artifacts, byte for byte', async () => {
  const artifacts = await compileContracts()
  expect(Object.keys(artifacts)).toEqual([
    ...['DevMultiToken', 'DevNft', 'DevRelay', 'DevToken'],
    ...hostileContractNames.map(name => `hostile/${name}`)
  ])
  for (const [name, artifact] of Object.entries(artifacts)) {
    const committed = await readFile(new URL(`../artifacts/${name}.json`, import.meta.url), 'utf8')
    expect(artifactText(artifact)).toBe(committed)
  }
})

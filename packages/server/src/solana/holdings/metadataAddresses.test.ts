import { PublicKey } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { formatSolanaAddress, METAPLEX_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { createMetadataAddresses } from './metadataAddresses.ts'

const program = new PublicKey(METAPLEX_PROGRAM)
const mints = Array.from({ length: 40 }, (_, n) => formatSolanaAddress(new Uint8Array(32).fill(n + 1)))
const expected = mints.map(mint => {
  const seeds = [Buffer.from('metadata'), program.toBytes(), new PublicKey(mint).toBytes()]
  return PublicKey.findProgramAddressSync(seeds, program)[0].toBase58()
})

/** Counts the turns that other work gets until `work` is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  void work.then(() => {
    isDone = true
  })
  while (!isDone) {
    await new Promise(resolve => setImmediate(resolve))
    turns++
  }
  return turns
}

it('are those that Metaplex derives, in order, the second time without deriving them', async () => {
  const addresses = createMetadataAddresses()
  expect(await addresses.find(mints)).toEqual(expected)
  expect(await addresses.find([...mints].reverse())).toEqual([...expected].reverse())
})

it('leave turns to other work while they are derived, and need none once they are known', async () => {
  const addresses = createMetadataAddresses()
  expect(await turnsDuring(addresses.find(mints))).toBeGreaterThanOrEqual(5)
  expect(await turnsDuring(addresses.find(mints))).toBe(1)
})

it('are derived again when they had to make room', async () => {
  const addresses = createMetadataAddresses({ maxKept: 10 })
  await addresses.find(mints)
  expect(await turnsDuring(addresses.find(mints))).toBeGreaterThanOrEqual(5)
})

it('are refused for what is no address', async () => {
  await expect(createMetadataAddresses().find(['x'])).rejects.toThrow(RangeError)
})

import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { deriveProgramAddress } from './deriveProgramAddress.ts'

/** As good as random, and the same in every run. */
const bytesOf = (number: number) => createHash('sha256').update(`seed ${number}`).digest()

it('derives the addresses that the library of Solana derives', () => {
  // Half of the hashes are points of the curve, and passed over.
  for (let number = 0; number < 200; number++) {
    const [program, seeds] = [
      bytesOf(number),
      [Buffer.from('metadata'), bytesOf(-number - 1).subarray(0, number % 33)]
    ]
    const [expected] = PublicKey.findProgramAddressSync(seeds, new PublicKey(program))
    expect(Buffer.from(deriveProgramAddress(seeds, program))).toEqual(expected.toBuffer())
  }
})

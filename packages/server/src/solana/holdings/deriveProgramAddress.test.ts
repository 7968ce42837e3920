import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { expect, it } from 'vitest'
import { deriveProgramAddress, isOnCurve } from './deriveProgramAddress.ts'

/** As good as random, and the same in every run. */
const bytesOf = (number: number) => createHash('sha256').update(`seed ${number}`).digest()

it('derives the addresses that the library of Solana derives', () => {
  for (let number = 0; number < 50; number++) {
    const [program, seeds] = [
      bytesOf(number),
      [Buffer.from('metadata'), bytesOf(-number - 1).subarray(0, number % 33)]
    ]
    const [expected] = PublicKey.findProgramAddressSync(seeds, new PublicKey(program))
    expect(Buffer.from(deriveProgramAddress(seeds, program))).toEqual(expected.toBuffer())
  }
})

it('tells points of the curve from other bytes as that library does', () => {
  const special = [
    ...['00', '01', '02', 'ec', 'ed', 'ee', 'ef', 'ff'].flatMap(first =>
      ['00', '7f', '80', 'ff'].flatMap(last => [
        Buffer.from(first + '00'.repeat(30) + last, 'hex'),
        Buffer.from(first + 'ff'.repeat(30) + last, 'hex')
      ])
    )
  ]
  const all = [...special, ...Array.from({ length: 300 }, (_, number) => bytesOf(number))]
  const found = all.map(isOnCurve)
  expect(found).toEqual(all.map(bytes => PublicKey.isOnCurve(bytes)))
  expect(new Set(found).size).toBe(2)
})

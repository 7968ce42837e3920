import { describe, expect, it } from 'vitest'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { readMint } from './tokenAccount.ts'

function base({ supply = 5n, decimals = 6, initialized = 1 } = {}): Buffer {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(initialized, 45)
  return data
}

/** A mint with the account type behind it and room for one extension. */
const extended = () => Buffer.concat([base(), Buffer.alloc(165 - 82), Buffer.from([1]), Buffer.alloc(112)])

const read = (data: Uint8Array, programId = TOKEN_2022_PROGRAM) =>
  readMint({ owner: programId, data }, programId)

describe('a mint', () => {
  it('is read with every digit of its supply', () => {
    const data = base({ supply: 2n ** 64n - 1n, decimals: 255 })
    expect(read(data, TOKEN_PROGRAM)).toEqual({ supply: 18446744073709551615n, decimals: 255 })
  })

  it.each([
    ['a missing last byte', 'TRUNCATED', () => read(base().subarray(0, 81))],
    ['nothing but zeros', 'UNINITIALIZED', () => read(Buffer.alloc(82))],
    ['an unlawful flag', 'MALFORMED', () => read(base({ initialized: 2 }))],
    ['extensions under the old program', 'WRONG_KIND', () => read(extended(), TOKEN_PROGRAM)],
    ['a token account', 'WRONG_KIND', () => read(extended().fill(2, 165, 166))],
    ['a multisig', 'WRONG_KIND', () => read(Buffer.alloc(355, 1))],
    ['no room for the account type', 'WRONG_KIND', () => read(Buffer.concat([base(), Buffer.alloc(20)]))],
    [
      'another owner',
      'WRONG_OWNER',
      () => readMint({ owner: TOKEN_PROGRAM, data: base() }, TOKEN_2022_PROGRAM)
    ]
  ])('is refused: %s', (_what, reason, attempt) => {
    expect(attempt).toThrow(expect.objectContaining({ name: 'AccountRefusal', reason }))
  })
})

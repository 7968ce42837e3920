import { describe, expect, it } from 'vitest'
import { formatSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { readInterfaceMetadata, readTokenMetadata } from './tokenExtensions.ts'

const mintKey = new Uint8Array(32).fill(7)
const mint = formatSolanaAddress(mintKey)
const authority = new Uint8Array(32).fill(3)
const nobody = new Uint8Array(32)

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([size(bytes.length), bytes])
}

function size(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const written = (by = authority, fields: readonly Buffer[] = []) =>
  Buffer.concat([
    ...[by, mintKey, text('Self\0'), text(' SLF'), text('https://s.test')],
    ...[size(fields.length / 2), ...fields]
  ])
const isRead = {
  ...{
    kind: 'token2022',
    updateAuthority: formatSolanaAddress(authority),
    mint,
    name: 'Self',
    symbol: 'SLF'
  },
  ...{ uri: 'https://s.test', sellerFeeBasisPoints: 0, creators: [], isMutable: true }
}

describe('token metadata', () => {
  it('is read with its strings cut at the first NUL and trimmed, and without its additional fields', () => {
    expect(readTokenMetadata(written(authority, [text('colour'), text('blue')]), mint)).toStrictEqual(isRead)
  })

  it('says that nobody may change it by leaving the authority out', () => {
    const metadata = readTokenMetadata(written(nobody), mint)
    expect(metadata).toMatchObject({ isMutable: false })
    expect(metadata).not.toHaveProperty('updateAuthority')
  })

  it('is refused when it names another mint', () => {
    const other = formatSolanaAddress(authority)
    expect(() => readTokenMetadata(written(), other)).toThrow(
      expect.objectContaining({ reason: 'WRONG_MINT' })
    )
  })

  it('is refused wherever it is cut, also in the additional fields', () => {
    const whole = written(authority, [text('colour'), text('blue')])
    for (let length = 0; length < whole.length; length++) {
      expect(() => readTokenMetadata(whole.subarray(0, length), mint)).toThrow(
        expect.objectContaining({ name: 'AccountRefusal', reason: 'TRUNCATED' })
      )
    }
  })

  it('is refused at once when it claims more fields than there are bytes', () => {
    const greedy = Buffer.concat([written().subarray(0, -4), size(2 ** 32 - 1)])
    expect(() => readTokenMetadata(greedy, mint)).toThrow(expect.objectContaining({ reason: 'TRUNCATED' }))
  })
})

describe('the account of another program that keeps token metadata', () => {
  const discriminator = Buffer.from([112, 132, 90, 90, 11, 88, 157, 87])
  const entry = (name: Uint8Array, value: Uint8Array) => Buffer.concat([name, size(value.length), value])

  it('is read behind other entries and before unused room', () => {
    const data = Buffer.concat([
      entry(Buffer.alloc(8, 1), Buffer.alloc(20)),
      entry(discriminator, written()),
      Buffer.alloc(40)
    ])
    expect(readInterfaceMetadata(data, mint)).toStrictEqual(isRead)
  })

  it.each([
    ['no entry', Buffer.alloc(0), 'WRONG_KIND'],
    ['another entry only', entry(Buffer.alloc(8, 1), Buffer.alloc(20)), 'WRONG_KIND'],
    [
      'unused room before it',
      Buffer.concat([Buffer.alloc(12), entry(discriminator, written())]),
      'WRONG_KIND'
    ],
    ['an entry longer than itself', entry(discriminator, written()).subarray(0, 100), 'TRUNCATED']
  ])('is refused: %s', (_what, data, reason) => {
    expect(() => readInterfaceMetadata(data, mint)).toThrow(
      expect.objectContaining({ name: 'AccountRefusal', reason })
    )
  })
})

import fc from 'fast-check'
import { randomLogs, saidTransfer } from './randomLogs.ts'
import { address, quantity, type RawParts, rawBlock } from './rawBlock.ts'
import { setCodeTuples } from './setCodeTuples.ts'

/** Bytes with runs of zeros of all lengths between. */
const calldata = fc
  .array(
    fc.tuple(fc.nat(7), fc.uint8Array({ maxLength: 3 })).map(([zeros, bytes]) => {
      return '00'.repeat(zeros) + Buffer.from(bytes).toString('hex')
    }),
    { maxLength: 8 }
  )
  .map(parts => `0x${parts.join('')}`)
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(quantity)
const price = fc
  .oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: 0n, max: 2n ** 70n }))
  .map(quantity)
const anyPart = fc
  .record({
    logs: randomLogs,
    hasFailed: fc.boolean(),
    input: calldata,
    value: amount,
    type: fc.nat(5),
    effectiveGasPrice: price,
    authorizationList: fc.option(fc.subarray([...setCodeTuples]), { freq: 3, nil: undefined })
  })
  .map(({ logs, hasFailed, effectiveGasPrice, type, ...rest }): RawParts => {
    const caps = { maxFeePerGas: '0x70', maxPriorityFeePerGas: '0x2' }
    return {
      logs,
      transaction: { ...rest, ...caps, type: quantity(type) },
      receipt: { status: hasFailed ? '0x0' : '0x1', effectiveGasPrice }
    }
  })
/** What is said in the calldata stands between other logs, some of which are about the same accounts. */
const called = fc.tuple(saidTransfer, randomLogs, randomLogs, fc.boolean()).map(
  ([{ log, ...transaction }, before, after, isTwice]): RawParts => ({
    transaction,
    logs: [...before, log, ...(isTwice ? [log] : []), ...after]
  })
)
const creation = fc.tuple(calldata, randomLogs).map(
  ([input, logs]): RawParts => ({
    transaction: { to: null, input },
    receipt: { contractAddress: address(500) },
    logs
  })
)
const deposit = fc.tuple(amount, randomLogs).map(
  ([mint, logs]): RawParts => ({
    transaction: { type: '0x7e', mint },
    receipt: { depositNonce: '0x1' },
    logs
  })
)
const part = fc.oneof(
  { weight: 4, arbitrary: anyPart },
  { weight: 4, arbitrary: called },
  { weight: 1, arbitrary: creation },
  { weight: 1, arbitrary: deposit }
)
const someAddress = fc.constantFrom(0, 1, 2, 7, 16).map(address)
const withdrawal = fc.record({
  index: fc.constant('0x1'),
  address: someAddress,
  amount: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(quantity)
})
const header = fc.record(
  {
    miner: someAddress,
    baseFeePerGas: fc.nat(200).map(quantity),
    withdrawals: fc.array(withdrawal, { maxLength: 5 })
  },
  { requiredKeys: [] }
)
/** Blocks of a few transactions of every kind, with logs that are transfers, or nearly. */
export const randomBlocks = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), header)
  .map(([parts, members]) => rawBlock(16, parts, members))

/** Changes bytes at a place that is drawn: puts others there, takes some out, repeats some, or exchanges two stretches. */
export const mutation = fc
  .tuple(
    fc.constantFrom('put', 'cut', 'repeat', 'exchange'),
    fc.nat(1_000_000),
    fc.nat(1_000_000),
    fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 90 })),
    fc.constantFrom(
      ...'"{}[],:0x1fF nul \\\n\u00ff',
      'null',
      '""',
      '"0x"',
      '0x0',
      '{}',
      '[]',
      '"from":',
      '"0x1",'
    )
  )
  .map(([kind, first, second, length, text]) => (bytes: Uint8Array): Uint8Array => {
    const [a, b] = [first % bytes.length, second % bytes.length].sort((x, y) => x - y) as [number, number]
    const part = (start: number, end: number) => bytes.subarray(start, end)
    if (kind === 'put')
      return Buffer.concat([part(0, a), Buffer.from(text), part(a + text.length, bytes.length)])
    if (kind === 'cut') return Buffer.concat([part(0, a), part(a + length, bytes.length)])
    if (kind === 'repeat') return Buffer.concat([part(0, a + length), part(a, bytes.length)])
    const size = Math.min(length, b - a, bytes.length - b)
    return Buffer.concat([
      part(0, a),
      part(b, b + size),
      part(a + size, b),
      part(a, a + size),
      part(b + size, bytes.length)
    ])
  })

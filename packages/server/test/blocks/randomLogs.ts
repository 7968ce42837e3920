import { id } from 'ethers'
import fc from 'fast-check'
import { address, type RawLog, wordOf } from './rawBlock.ts'

const events = [
  'Transfer(address,address,uint256)',
  'TransferSingle(address,address,address,uint256,uint256)',
  'TransferBatch(address,address,address,uint256[],uint256[])',
  'ConsecutiveTransfer(uint256,uint256,address,address)',
  'Deposit(address,uint256)',
  'Withdrawal(address,uint256)',
  'Approval(address,address,uint256)'
].map(id)

const number = (value: number | bigint) => value.toString(16).padStart(64, '0')
/** A few of each, so that the same ones meet. */
const contract = fc.constantFrom(500, 501).map(address)
const person = fc.constantFrom(address(0), address(1), address(2), address(3)).map(wordOf)
const size = fc.constantFrom(0, 1, 2, 3, 31, 32, 64, 96, 128, 160)
const tokenId = fc.oneof(
  fc.constantFrom(0n, 1n, 255n, 256n, 2n ** 256n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
)
const word = fc.oneof(
  person.map(value => value.slice(2)),
  size.map(number),
  tokenId.map(number)
)
const topic = fc.oneof(
  { weight: 6, arbitrary: person },
  { weight: 1, arbitrary: word.map(value => `0x${value}`) }
)

/** Two lists of numbers as `TransferBatch` has them, with lengths that may differ and offsets that may be wrong. */
const batch = fc
  .tuple(
    fc.array(tokenId, { maxLength: 4 }),
    fc.array(tokenId, { maxLength: 4 }),
    fc.boolean(),
    fc.constantFrom(64n, 64n, 64n, 32n, 0n, 2n ** 255n)
  )
  .map(([ids, values, isEven, offset]) => {
    const amounts = isEven ? ids : values
    const lists = [BigInt(ids.length), ...ids, BigInt(amounts.length), ...amounts]
    return [offset, BigInt(96 + 32 * ids.length), ...lists].map(number).join('')
  })
const words = (count: number) =>
  fc.array(word, { minLength: count, maxLength: count }).map(list => list.join(''))
const anyData = fc.oneof(
  fc.array(word, { maxLength: 4 }).map(list => list.join('')),
  batch,
  fc.uint8Array({ maxLength: 70 }).map(bytes => Buffer.from(bytes).toString('hex'))
)

/** Logs of one event, with so many topics besides its signature. */
const log = (event: fc.Arbitrary<string>, topicCount: number, data: fc.Arbitrary<string>) =>
  fc
    .tuple(contract, event, fc.array(topic, { minLength: topicCount, maxLength: topicCount }), data)
    .map(([emitter, signature, topics, text]) => ({
      address: emitter,
      topics: [signature, ...topics],
      data: `0x${text}`
    }))

const [transfer, single, batched, consecutive, deposit, withdrawal] = events.map(event =>
  fc.constant(event)
) as [fc.Arbitrary<string>, ...fc.Arbitrary<string>[]]
/** Both lists would lie over the offsets, which is refused although they are long enough for it. */
const overlapping = [32n, 32n, ...Array<bigint>(40).fill(1n)].map(number).join('')
const shaped = [
  log(transfer, 2, words(1)),
  log(transfer, 3, fc.constant('')),
  log(transfer, 0, words(3)),
  log(single ?? transfer, 3, words(2)),
  log(batched ?? transfer, 3, batch),
  log(batched ?? transfer, 3, fc.constant(overlapping)),
  log(consecutive ?? transfer, 3, words(1)),
  log(fc.oneof(deposit ?? transfer, withdrawal ?? transfer), 1, words(1))
]
const shapeless = fc
  .tuple(contract, fc.constantFrom(...events), fc.array(topic, { maxLength: 3 }), anyData, fc.boolean())
  .map(([emitter, signature, topics, text, hasSignature]) => ({
    address: emitter,
    topics: hasSignature ? [signature, ...topics] : topics,
    data: `0x${text}`
  }))

/** Logs that are transfers, or nearly. */
export const randomLogs: fc.Arbitrary<readonly RawLog[]> = fc.array(fc.oneof(...shaped, shapeless), {
  maxLength: 8
})

/** A plain call of `transfer(address,uint256)` and the log that it says, sometimes nearly. */
export const saidTransfer = fc
  .tuple(
    contract,
    person,
    person,
    tokenId,
    fc.constantFrom(0n, 0n, 0n, 1n),
    fc.constantFrom('', '', '', '00')
  )
  .map(([to, from, receiver, amount, missing, rest]) => ({
    to,
    from: `0x${from.slice(26)}`,
    input: `0xa9059cbb${receiver.slice(2)}${number(amount)}${rest}`,
    log: {
      address: to,
      topics: [id('Transfer(address,address,uint256)'), from, receiver],
      data: `0x${number(amount < missing ? amount : amount - missing)}`
    }
  }))

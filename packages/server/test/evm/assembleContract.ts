/**
 * Contracts of a few bytes that answer each selector with a fixed piece of EVM code. Compilers do not let one write
 * contracts this bad.
 */
export type Answer = (start: number) => string

const push2 = (value: number) => `61${value.toString(16).padStart(4, '0')}`
const push3 = (value: number) => `62${value.toString(16).padStart(6, '0')}`
const word = (value: bigint | number | string) => BigInt(value).toString(16).padStart(64, '0')

/** Returns these bytes. `start` is where this piece of code lies; the bytes follow it. */
export const returns =
  (hex: string): Answer =>
  start => {
    const length = hex.length / 2
    // length, offset, 0, CODECOPY, length, 0, RETURN: 15 bytes, then the bytes to return.
    return `${push2(length)}${push2(start + 15)}600039${push2(length)}6000f3${hex}`
  }
export const returnsWord = (value: bigint | number | string) => returns(word(value))
export const returnsText = (text: string | Buffer) => {
  const bytes = Buffer.from(text)
  return returns(
    word(32) + word(bytes.length) + bytes.toString('hex').padEnd(Math.ceil(bytes.length / 32) * 64, '0')
  )
}
export const returnsBytes32 = (text: string) => returns(Buffer.from(text).toString('hex').padEnd(64, '0'))
/** A well-formed string of so many zero bytes. */
export const returnsLongText =
  (length: number): Answer =>
  () =>
    `6020600052${push3(length)}602052${push3(length + 64)}6000f3`
export const returnsZeros =
  (length: number): Answer =>
  () =>
    `${push3(length)}6000f3`
export const stops: Answer = () => '00'
export const loops: Answer = start => `5b${push2(start)}56`
export const invalid: Answer = () => 'fe'
export const reverts: Answer = () => '60006000fd'
export const revertsWith =
  (length: number): Answer =>
  () =>
    `${push3(length)}6000fd`
/** `balanceOf(owner, id)` answers the id itself. */
export const returnsSecondArgument: Answer = () => '60243560005260206000f3'

/** @param answers - by selector (8 hex digits); everything else gets `fallback`. */
export function assembleContract(
  answers: Readonly<Record<string, Answer>>,
  fallback: Answer = reverts
): `0x${string}` {
  const selectors = Object.keys(answers)
  // 0 CALLDATALOAD e0 SHR; then per selector DUP1 PUSH4 EQ PUSH2 JUMPI.
  const head = '60003560e01c'
  let at = head.length / 2 + selectors.length * 11
  const fallbackCode = fallback(at)
  at += fallbackCode.length / 2
  let dispatch = head
  let bodies = ''
  for (const selector of selectors) {
    const body = answers[selector]?.(at + 1) ?? ''
    dispatch += `8063${selector}14${push2(at)}57`
    bodies += `5b${body}`
    at += 1 + body.length / 2
  }
  return `0x${dispatch}${fallbackCode}${bodies}`
}

export const selectors = {
  balanceOf: '70a08231',
  decimals: '313ce567',
  name: '06fdde03',
  symbol: '95d89b41',
  ownerOf: '6352211e',
  tokenURI: 'c87b56dd',
  balanceOf1155: '00fdd58e',
  uri: '0e89341c',
  supportsInterface: '01ffc9a7'
} as const
/** Answers the first word of its input after the selector. */
export const returnsFirstArgument: Answer = () => '60043560005260206000f3'
/** Writes to its storage how often it was asked, and answers that number. */
export const countsReads: Answer = () => '60005460010180600055600052' + '60206000f3'
/** Counts down from `rounds`, 26 gas each, and then answers so. */
export const afterRounds =
  (rounds: number, answer: Answer): Answer =>
  start => {
    const head = `${push3(rounds)}5b6001900380${push2(start + 4)}57`
    return head + answer(start + head.length / 2)
  }

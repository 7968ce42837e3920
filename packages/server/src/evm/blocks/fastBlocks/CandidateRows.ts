import { addressLength, candidateHeadLength } from '../../../index/record/encodeBlock.ts'
import { standardNumber } from '../../../index/record/tokenKey.ts'
import type { TokenStandard } from '../../../model/evm.ts'
import { decline } from './decline.ts'
import { sameBytes } from './decodeHex.ts'

/** Bytes of one ABI word. */
const word = 32
const longestEntry = candidateHeadLength + 2 * (1 + word)
/** With more, looking for each among all others would cost too much. */
const mostOfOneTransaction = 128

/** Holding candidates as `BlockRows` has them, each once for one transaction. */
export class CandidateRows {
  #bytes = new Uint8Array(1_024 * longestEntry)
  #length = 0
  /** Where those of this transaction begin, and how many they are. */
  #start = 0
  #count = 0

  reset(): void {
    this.#length = 0
    this.beginTransaction()
  }

  beginTransaction(): void {
    this.#start = this.#length
    this.#count = 0
  }

  /**
   * @param owner - place of the address in `bytes`.
   * @param contract - 20 bytes.
   * @param ids - words of the first and the last token id, or of the only one; none for ERC-20.
   */
  add(
    bytes: Uint8Array,
    owner: number,
    contract: Uint8Array,
    standard: TokenStandard,
    ids: readonly { readonly bytes: Uint8Array; readonly at: number }[]
  ): void {
    if (this.#length + longestEntry > this.#bytes.length) this.#grow()
    const entry = this.#length
    this.#bytes.set(bytes.subarray(owner, owner + addressLength), entry)
    this.#bytes.set(contract, entry + addressLength)
    let end = entry + candidateHeadLength
    for (const id of ids) end = this.#writeId(id.bytes, id.at, end)
    this.#bytes[entry + 2 * addressLength] = standardNumber(standard)
    this.#bytes[entry + 2 * addressLength + 1] = end - entry - candidateHeadLength
    if (this.#isKnown(entry, end - entry)) return
    if (this.#count >= mostOfOneTransaction) decline()
    this.#count++
    this.#length = end
  }

  copy(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  /** As `tokenIdsKey` writes it. @returns where it ends. */
  #writeId(bytes: Uint8Array, at: number, start: number): number {
    let zeros = 0
    while (zeros < word && bytes[at + zeros] === 0) zeros++
    this.#bytes[start] = word - zeros
    for (let i = zeros; i < word; i++) this.#bytes[start + 1 + i - zeros] = bytes[at + i] ?? 0
    return start + 1 + word - zeros
  }

  #isKnown(entry: number, length: number): boolean {
    for (let at = this.#start; at < entry; ) {
      const lengthThere = candidateHeadLength + (this.#bytes[at + candidateHeadLength - 1] ?? 0)
      if (lengthThere === length && sameBytes(this.#bytes, at, this.#bytes, entry, length)) return true
      at += lengthThere
    }
    return false
  }

  #grow(): void {
    const grown = new Uint8Array(2 * this.#bytes.length)
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}

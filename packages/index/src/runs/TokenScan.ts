import { addressLength } from '../record/RecordParts.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { ChunkRows } from './ChunkRows.ts'
import { type ChunkReads, findChunks } from './chunkReads.ts'
import { rowKey } from './keys.ts'
import type { Run } from './run.ts'
import { sections } from './sections.ts'

const contractAt = addressLength
const standardAt = contractAt + sections.contract.groupLength

/** A token of an account, as a run has it. */
export interface FoundToken {
  readonly contract: Uint8Array
  readonly standard: number
  /** Key of its ids, empty for fungible tokens. */
  readonly tokenId: Uint8Array
}

/** Reads the tokens of one account in one run: ordered by contract, standard and key of the ids, each once. */
export class TokenScan {
  readonly #reads: ChunkReads
  readonly #chainId: number
  readonly #run: Run
  readonly #owner: Uint8Array
  readonly #rows = new ChunkRows(sections.token)
  /** Key of the next chunk; absent: all have been read. */
  #next: Uint8Array | undefined
  #last: Uint8Array | undefined

  constructor(reads: ChunkReads, chainId: number, run: Run, owner: Uint8Array) {
    this.#reads = reads
    this.#chainId = chainId
    this.#run = run
    this.#owner = owner
    this.#next = owner
  }

  get goesOn(): boolean {
    return this.#next !== undefined
  }

  /**
   * Reads the tokens of the next chunk, none where the account has no more.
   * @throws {IndexDamagedError} a chunk that has some of them, or would have them, is missing or altered.
   */
  async next(): Promise<readonly FoundToken[]> {
    if (this.#next === undefined) return []
    const [chunk] = await findChunks(this.#reads, this.#chainId, sections.token, [
      { run: this.#run, key: this.#next }
    ])
    this.#next = undefined
    if (chunk === undefined) return []
    const groups: Buffer[] = []
    const rows = this.#rows
    rows.begin(chunk, this.#run)
    let order = -1
    while (order <= 0 && rows.nextGroup()) {
      order = Buffer.compare(rows.group.subarray(0, addressLength), this.#owner)
      if (order !== 0) continue
      const group = Buffer.from(rows.group.subarray(0, rows.groupLength))
      // A group may go on in this chunk.
      if (this.#last === undefined || group.compare(this.#last) !== 0) groups.push(group)
      this.#last = group
    }
    if (order <= 0 && chunk.upper.length > 0) this.#next = chunk.upper
    const contracts = await this.#contracts(groups.map(group => group.readUInt32BE(contractAt)))
    return groups.map((group, i) => ({
      contract: contracts[i] ?? new Uint8Array(0),
      standard: group[standardAt] ?? 0,
      tokenId: group.subarray(standardAt + 1)
    }))
  }

  /** Reads the addresses of contracts. @param numbers - ascending, some more than once. */
  async #contracts(numbers: readonly number[]): Promise<readonly Uint8Array[]> {
    const distinct = [...new Set(numbers)]
    const id = firstTransactionId(this.#run.firstBlock)
    const keys = distinct.map(number => rowKey(groupOf(number), id))
    const chunks = await findChunks(
      this.#reads,
      this.#chainId,
      sections.contract,
      keys.map(key => ({ run: this.#run, key }))
    )
    const rows = new ChunkRows(sections.contract)
    const addresses = new Map<number, Uint8Array>()
    for (const [i, chunk] of chunks.entries()) {
      const number = distinct[i] ?? 0
      if (chunk === undefined) continue
      rows.begin(chunk, this.#run)
      if (rows.findGroup(groupOf(number)) && rows.nextRow()) {
        addresses.set(number, rows.bytes.subarray(rows.value, rows.value + rows.valueLength))
      }
    }
    return numbers.map(number => addresses.get(number) ?? new Uint8Array(0))
  }
}

function groupOf(number: number): Buffer {
  const group = Buffer.allocUnsafe(sections.contract.groupLength)
  group.writeUInt32BE(number)
  return group
}

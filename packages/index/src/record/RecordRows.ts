import { OperationWalk } from './operations.ts'
import { addressLength, fieldIndex, RecordParts } from './RecordParts.ts'
import { damaged } from './recordBytes.ts'
import { standardNumber } from './tokenKey.ts'
import { InternalWalk, TransferWalk } from './transfers.ts'

/** Roles of a party in a transaction, as bits. */
export const roles = {
  sent: 1,
  received: 2,
  created: 4,
  tokenIn: 8,
  tokenOut: 16,
  internalIn: 32,
  internalOut: 64,
  /** Sender of a user operation, authority of a delegation, or a party for any reason that its record does not hold. */
  signed: 128
} as const

/**
 * Rows of one transaction, each once, with their roles (bits of `roles`). A row is its bytes as text, one character a byte
 * (latin1): the address of a party, or a candidate as in `RunRows`.
 */
export type RowRoles = ReadonlyMap<string, number>

const [fromField, toField, contractField] = [
  fieldIndex('from'),
  fieldIndex('to'),
  fieldIndex('contractAddress')
]
const zeroAddress = '\0'.repeat(addressLength)

/** Derives the rows of a record: `read`, then the rows are in `parties` and `candidates`. The object can be reused. */
export class RecordRows {
  readonly #parties = new Map<string, number>()
  readonly #candidates = new Map<string, number>()
  readonly #parts = new RecordParts()
  readonly #transfers = new TransferWalk()
  readonly #internal = new InternalWalk()
  readonly #operations = new OperationWalk()
  #record: Buffer = Buffer.alloc(0)

  /**
   * Sender, receiver, created contract, both sides of token transfers and of internal transfers, and senders of operations.
   * Wrapping native currency makes nobody a party.
   */
  get parties(): RowRoles {
    return this.#parties
  }

  /**
   * Both sides of ERC-20 and ERC-1155 transfers, the receiver of ERC-721 tokens, and the account that wraps or unwraps native
   * currency. The zero address as sender is a mint, and makes no candidate.
   */
  get candidates(): RowRoles {
    return this.#candidates
  }

  /**
   * Derives the rows of the record that begins at `start`.
   * @returns where it ends.
   * @throws {StoreError} the bytes are damaged.
   */
  read(records: Buffer, start: number): number {
    const parts = this.#parts
    const end = parts.locate(records, start)
    if (parts.layout.isPending) throw damaged('it is an entry of the pool')
    this.#record = records
    this.#parties.clear()
    this.#candidates.clear()
    this.#addField(fromField, roles.sent)
    this.#addField(toField, roles.received)
    this.#addField(contractField, roles.created)
    if (parts.transfersLength > 0) this.#readTransfers()
    if (parts.internalLength > 0) this.#readInternal()
    if (parts.operationsLength > 0) this.#readOperations()
    return end
  }

  #addField(field: number, role: number): void {
    const at = this.#parts.at(field)
    if (at >= 0) join(this.#parties, addressAt(this.#record, at), role)
  }

  #readTransfers(): void {
    const walk = this.#transfers
    walk.begin(this.#record, this.#parts)
    while (walk.next()) {
      const from = addressAt(walk.addresses, walk.from)
      const to = addressAt(walk.addresses, walk.to)
      if (walk.isWrapping) {
        if (from === zeroAddress) this.#addCandidate(to, roles.tokenIn)
        else this.#addCandidate(from, roles.tokenOut)
        continue
      }
      join(this.#parties, from, roles.tokenOut)
      join(this.#parties, to, roles.tokenIn)
      if (walk.standard !== 'erc721' && from !== zeroAddress) this.#addCandidate(from, roles.tokenOut)
      this.#addCandidate(to, roles.tokenIn)
    }
  }

  /** Adds a candidate of the transfer at which the walk is. Token ids in a record have the form that they have in a key. */
  #addCandidate(owner: string, role: number): void {
    const { addresses, contract, standard, tokenId, lastTokenId } = this.#transfers
    const key = this.#integerAt(tokenId) + this.#integerAt(lastTokenId)
    const head = String.fromCharCode(standardNumber(standard), key.length)
    join(this.#candidates, owner + addressAt(addresses, contract) + head + key, role)
  }

  #integerAt(at: number): string {
    return at < 0 ? '' : this.#record.toString('latin1', at, at + 1 + (this.#record[at] ?? 0))
  }

  #readInternal(): void {
    const walk = this.#internal
    walk.begin(this.#record, this.#parts)
    while (walk.next()) {
      join(this.#parties, addressAt(walk.addresses, walk.from), roles.internalOut)
      join(this.#parties, addressAt(walk.addresses, walk.to), roles.internalIn)
    }
  }

  #readOperations(): void {
    const walk = this.#operations
    walk.begin(this.#record, this.#parts)
    while (walk.next()) join(this.#parties, addressAt(walk.addresses, walk.sender), roles.signed)
  }
}

function join(rows: Map<string, number>, row: string, role: number): void {
  rows.set(row, (rows.get(row) ?? 0) | role)
}

function addressAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + addressLength)
}

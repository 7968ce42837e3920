/**
 * One table of a run: groups in the order of their bytes, each with rows in the order of their transaction ids. A key is the bytes
 * of a group and a transaction id.
 */
export interface Section {
  readonly number: number
  readonly name: string
  /** Bytes of each group; null: each group has its own length, and none is the beginning of another. */
  readonly groupLength: number | null
  /** Bytes that each row has besides its id; null: each row has its own number of them. */
  readonly valueLength: number | null
}

/**
 * The sections of every run.
 *
 * - `address`: account -> transactions that it is a party of; value: its roles.
 * - `hash`: first bytes of a transaction hash -> transaction. The record has the whole hash.
 * - `token`: owner (20 bytes), number of the contract within the run (4), standard (1), token ids (`writeToken`) ->
 *   transactions; value: roles.
 * - `contract`: number of a contract within the run (4 bytes) -> the first block of the run; value: its address. Numbers follow
 *   the order of the addresses.
 * - `event`: account -> blocks that have events of it (the id of their first transaction). The extra row of the block has the
 *   events.
 * - `filter`: no rows, but the bits of a filter of the accounts of `address` and `token`, in one chunk; runs with many transactions have none.
 */
export const sections = {
  address: { number: 0, name: 'address', groupLength: 20, valueLength: 1 },
  hash: { number: 1, name: 'hash', groupLength: 6, valueLength: 0 },
  token: { number: 2, name: 'token', groupLength: null, valueLength: 1 },
  contract: { number: 3, name: 'contract', groupLength: 4, valueLength: 20 },
  event: { number: 4, name: 'event', groupLength: 20, valueLength: 0 },
  filter: { number: 5, name: 'filter', groupLength: 0, valueLength: 0 }
} as const satisfies Record<string, Section>

/** All sections by their numbers. */
export const sectionList: readonly Section[] = Object.values(sections)

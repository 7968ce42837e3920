/** 0x-prefixed lower-case hex of any length. */
export type Hex = `0x${string}`
/** 32-byte hash, 0x-hex, lower case. */
export type Hash = Hex
/** 20-byte address, 0x-hex, always lower case inside the server; checksummed only when written to the wire. */
export type Address = Hex

/** EIP-2930 access list entry. */
export interface AccessListEntry {
  readonly address: Address
  readonly storageKeys: readonly Hash[]
}

/** The chain argument where no default is known. */
export interface ChainPerCall {
  /** The chain asked about. */
  readonly chainId: number
}

/** The chain argument where a default is known. */
export interface ChainOptional {
  /** The chain asked about, instead of the default. */
  readonly chainId?: number | undefined
}

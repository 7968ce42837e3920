/** An asset whose price a host is asked for. */
export interface PricedAsset {
  /** Id of an EVM chain that the server serves. */
  readonly chainId: number
  /** Contract of an ERC-20 token, in lower case; absent for the native currency of the chain. */
  readonly address?: string
}

/** Prices as a host names them. */
export interface NamedPrices {
  /** Code of the currency that all of these prices are in, such as `USD`: 2 to 12 of A-Z and 0-9. */
  readonly currency: string
  /**
   * One entry for each asset that has a price, in any order; an asset that is left out, or whose price is `null`, has none.
   * A price is that of one whole token or coin, as text: `"3012.55"`, without exponent, at most 30 digits before the point
   * and 36 after it.
   */
  readonly prices: readonly (PricedAsset & { readonly price: string | null })[]
}

/**
 * Names the prices of assets: a function of the host's, for `metadata.prices` of a configuration. There is no other source of
 * prices.
 *
 * @param assets - 1 to 1,000, each once; tokens that look like spam are never among them.
 * @param options.signal - aborts after 2 seconds, or when the caller has gone.
 * @throws anything where prices cannot be had: holdings are then answered without them, and say so.
 * @remarks An answer is used for a minute; after a failure nothing is asked for ten seconds.
 */
export type ReadPrices = (
  assets: readonly PricedAsset[],
  options: { readonly signal: AbortSignal }
) => Promise<NamedPrices>

/** The prices that a host names, within bounds. */
export interface Prices {
  /**
   * Reads the prices of assets. Never rejects because of the host.
   *
   * @param assets - each once; those after the first 1,000 are not asked for.
   * @param options.budgetMs - longest wait; 2 seconds at most.
   * @throws the reason of `signal`.
   */
  read(
    assets: readonly PricedAsset[],
    options: { readonly budgetMs: number; readonly signal: AbortSignal }
  ): Promise<FoundPrices>
}

/** What is known of the prices of some assets. */
export interface FoundPrices {
  /** Absent where none could be read. */
  readonly quote?: {
    readonly currency: string
    /** When the oldest of them was named. */
    readonly timestampSeconds: number
  }
  /** Returns the price of a token by its contract in lower case, or of the native currency; absent where the host names none. */
  priceOf(address?: string): string | undefined
  /** False where the host was not asked for an asset, or its answer could not be used. */
  readonly isComplete: boolean
}

import type { ChainOptional, ChainPerCall } from './Chain.ts'
import type { Core } from './connect.ts'

/**
 * A connection to one service with one set of credentials: what the functions of `./actions` take first. Printing it shows
 * functions and no credentials.
 *
 * @typeParam Chain - Whether calls must name their chain: they must, unless the connection has a default.
 * @typeParam Int64 - What `lamports` and `amount` on Solana are; see `ClientOptions.int64`.
 */
export interface Connection<
  Chain extends ChainOptional = ChainPerCall,
  Int64 extends number | string | bigint = number
> extends Core {
  /** Only a type: says what calls must give and what results hold. */
  readonly '~types'?: readonly [call: (chain: Chain) => void, int64: Int64]
}

/** Why a piece of the devnet cannot run: what a caller may do about it differs. */
export type DevnetErrorReason = 'UNSUPPORTED_PLATFORM' | 'NODE_DID_NOT_START' | 'NODE_REFUSED' | 'MISUSE'

/**
 * A failure of the devnet itself, never of the service under test.
 *
 * `UNSUPPORTED_PLATFORM`: there is no build of the node for this machine, callers may go on without it.
 * `NODE_DID_NOT_START`: the process ended or stayed silent. `NODE_REFUSED`: it answered with an error or
 * with something other than what was intended. `MISUSE`: the caller asked for something impossible.
 */
export class DevnetError extends Error {
  readonly reason: DevnetErrorReason

  /** `message` says what to do about it. */
  constructor(reason: DevnetErrorReason, message: string) {
    super(message)
    this.name = 'DevnetError'
    this.reason = reason
  }
}

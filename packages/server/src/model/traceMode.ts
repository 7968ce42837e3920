/**
 * Whether the blocks of a chain are indexed together with what happened inside their transactions.
 *
 * - `on`: a block whose traces cannot be had is not indexed, and the chain stalls until they can.
 * - `auto`: such a block is indexed without them where no upstream offers traces at all.
 * - `off`: traces are not asked for.
 */
export type TraceMode = (typeof traceModes)[number]

export const traceModes = ['on', 'off', 'auto'] as const

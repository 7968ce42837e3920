import { z } from 'zod'
import { bound, group, positive } from '../../../platform/settings/fields.ts'

/** The key `deepHistory`. */
export const deepHistorySettings = group('history older than an index: { maxCalls }', {
  maxCalls: bound(
    'most calls to nodes that one request makes for history older than an index: an integer from 100, or null for no bound',
    100
  )
})

/** The key `history.deepCacheBytes`. */
export const deepCacheBytes = positive(
  1_073_741_824,
  1_099_511_627_776,
  'most bytes of a chain that the store keeps of what lies below its index, about'
)

/** The key `deepHistory` of a chain. */
export const chainDeepHistory = z.enum(['node', 'strict', 'off']).default('off').meta({
  description:
    'history older than the index: "node" (read from the node on demand), "strict" (likewise, and refused where it may lack anything), or "off"'
})

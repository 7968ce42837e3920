import { positive } from '../../../platform/settings/fields.ts'

/** The key `limits.streams`. */
export const streamsLimit = positive(
  2_000,
  1_000_000,
  'streams of events open at the same time, more are refused'
)

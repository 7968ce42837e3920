import type { Check } from './Check.ts'
import { certificateChecks } from './certificateChecks.ts'
import { discoverChecks } from './discoverChecks.ts'
import { envelopeChecks } from './envelopeChecks.ts'
import { historyChecks } from './historyChecks.ts'
import { holdingChecks } from './holdingChecks.ts'
import { includeChecks } from './includeChecks.ts'
import { pageChecks } from './pageChecks.ts'
import { solanaChecks } from './solanaChecks.ts'
import { syncChecks } from './syncChecks.ts'
import { vectorChecks } from './vectorChecks.ts'

/** Every check, in the order of reports. */
export const allChecks: readonly Check[] = [
  ...vectorChecks,
  ...envelopeChecks,
  ...discoverChecks,
  ...historyChecks,
  ...pageChecks,
  ...includeChecks,
  ...holdingChecks,
  ...solanaChecks,
  ...syncChecks,
  ...certificateChecks
]

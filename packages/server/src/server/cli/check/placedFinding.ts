import type { Finding } from '../../../model/finding.ts'
import { scrubText } from '../../../platform/scrubText.ts'

/** A finding and what of the configuration it is about. */
export interface PlacedFinding extends Finding {
  /** Key in the configuration, such as `chains.evm[0].rpcUrls[1]`; `node` is Node.js itself. */
  readonly place: string
  /** Scheme, host and port of the URL there; absent where there is none. */
  readonly origin?: string
}

/** Names the place of each finding, and the origin of the URL that is there, never more of it. */
export function placeFindings(
  place: string,
  findings: readonly Finding[],
  url?: string
): readonly PlacedFinding[] {
  const origin = url === undefined ? undefined : scrubText(url, 200)
  return findings.map(finding => ({ place, ...(origin === undefined ? {} : { origin }), ...finding }))
}

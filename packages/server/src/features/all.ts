import type { Feature } from '../server/feature/Feature.ts'
import { certificates } from './certificates/feature.ts'
import { liveStreams } from './liveStreams/feature.ts'
import { tokenMetadata } from './metadata/feature.ts'
import { olderHistory } from './olderHistory/feature.ts'
import { operatorPages } from './operatorPages/feature.ts'
import { solanaHistory } from './solanaHistory/feature.ts'

/** All features that come with the server, in the order in which they are opened. */
export const allFeatures: readonly Feature[] = [
  tokenMetadata,
  olderHistory,
  certificates,
  liveStreams,
  solanaHistory,
  operatorPages
]

/** What they need of the nodes of EVM chains. */
export const allNodeChecks = allFeatures.flatMap(({ nodeChecks }) => nodeChecks ?? [])

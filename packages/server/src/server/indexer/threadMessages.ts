import type { MessagePort } from 'node:worker_threads'
import type { StoreLocation } from '../../index/parseStoreUrl.ts'
import type { Hash } from '../../model/evm.ts'
import type { SyncStatus } from '../../model/sync.ts'
import type { NodeFigures } from '../../platform/figures.ts'
import type { LogFields } from '../../platform/logger.ts'
import type { IndexerConfig } from './runIndexer.ts'

/** What a thread is started with. */
export interface ThreadData {
  readonly config: IndexerConfig
  readonly store: StoreLocation
  /** Leads to the thread in which the store is written; for `connectWriter`. */
  readonly writerPort: MessagePort
}

export type LogSeverity = 'debug' | 'info' | 'warn' | 'error'

/** What the thread tells. */
export type FromThread =
  | { readonly kind: 'status'; readonly status: SyncStatus }
  | {
      readonly kind: 'log'
      readonly severity: LogSeverity
      readonly message: string
      readonly fields: LogFields
    }
  /** The genesis block of the index, once that is open. */
  | { readonly kind: 'genesis'; readonly genesisHash: Hash }
  /** About once a second. */
  | { readonly kind: 'figures'; readonly figures: NodeFigures }
  /** The thread ends now because of `problem`. */
  | { readonly kind: 'failed'; readonly problem: string }

/** What the thread is told. */
export type ToThread = { readonly kind: 'stop' }

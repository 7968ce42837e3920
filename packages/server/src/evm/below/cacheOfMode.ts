import { createHash } from 'node:crypto'
import type { DeepHistoryCache } from '../../model/deepHistory.ts'
import type { BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'

/**
 * The cache as a chain with this setting of `traces` sees it: what was read with another one has other parties and other
 * transfers, and is as little use as what lies below another block.
 */
export function cacheOfMode(cache: DeepHistoryCache, traces: TraceMode): DeepHistoryCache {
  if (traces === 'off') return cache
  const marked = ({ number, hash }: BlockRef): BlockRef => ({ number, hash: markedHash(hash, traces) })
  return {
    known: (address, anchor) => cache.known(address, marked(anchor)),
    records: (address, anchor, part) => cache.records(address, marked(anchor), part),
    candidates: (address, anchor) => cache.candidates(address, marked(anchor)),
    lookUpHash: (hash, anchor) => cache.lookUpHash(hash, marked(anchor)),
    save: (address, anchor, stretch) => cache.save(address, marked(anchor), stretch),
    close: () => cache.close()
  }
}

function markedHash(hash: Hash, traces: TraceMode): Hash {
  return `0x${createHash('sha256').update(`${hash} traces ${traces}`).digest('hex')}`
}

import { openSqliteReader } from '@chain-data/index/test'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { ResultText } from '../../src/server/methods/MethodContext.ts'
import { createGetTransactionsByAddress } from '../../src/server/methods/svc_getTransactionsByAddress.ts'
import { accountAt, chainId } from './dataset.ts'

/** Opens the store of the data set for reading pages without HTTP; none is kept. */
export async function openPages(folder: string) {
  const reader = await openSqliteReader(folder, chainId)
  const status = () => ({
    ...{ chainId, phase: 'following' as const, head: 10, indexedFrom: 0 },
    ...{ backfilled: true, degraded: false, poolCovered: true, poolSeenAtMs: Date.now() }
  })
  const history = createGetTransactionsByAddress({
    chains: new Map([[chainId, { chainId, reader, status }]]),
    ...{ maxUnpaged: null, serveWhileSyncing: false },
    formatAddress: createAddressFormat(),
    clock: { now: Date.now }
  })
  const { signal } = new AbortController()
  return {
    /** Reads the first page of 100 records of the account of this number. */
    async read(account: number): Promise<void> {
      const call = [accountAt(account), { limit: 100 }] as const
      const page = await history([...call], { chainId, signal, deadlineMs: Number.POSITIVE_INFINITY })
      if (!(page instanceof ResultText) || page.bytes.length === 0) throw new Error('expected a page')
    },
    close: () => reader.close()
  }
}

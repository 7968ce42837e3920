/**
 * Entry of the worker thread that replays the logs of changes of all chains. Not imported by anything: `createReplayer` starts it by its
 * URL, so it is a bundle entry of its own.
 */
import { parentPort } from 'node:worker_threads'
import type { StoreLocation, StoreReader } from '@chain-data/index'
import { ChangeFilter, createChainReaders } from '@chain-data/index'
import { packError } from '../../../server/threads/sentErrors.ts'
import type { FromReplayer, ToReplayer } from './createReplayer.ts'
import { type ReplayedPart, readPart } from './readPart.ts'

if (parentPort === null) throw new Error('replayThread runs as a worker thread only')
const parent = parentPort

/** Chains take turns, and each of them has one part read at a time. */
const connections = 2
const locations = new Map<number, StoreLocation>()
const readers = createChainReaders(chainId => locations.get(chainId) as StoreLocation, { connections })
const chains = new Map<number, { readonly reader: StoreReader; readonly filter: ChangeFilter }>()

async function open(chainId: number) {
  const known = chains.get(chainId)
  if (known !== undefined) return known
  const opened = { reader: await readers.open(chainId), filter: new ChangeFilter() }
  chains.set(chainId, opened)
  return opened
}

/** A part of a buffer would be sent with the whole of it. */
function withOwnBytes(part: ReplayedPart): ReplayedPart {
  const changes = part.changes.map(change => {
    if (!('record' in change) || change.record.status === 'pending') return change
    const { ids, bytes } = change.record.chunk
    return { ...change, record: { ...change.record, chunk: { ids, bytes: Uint8Array.from(bytes) } } }
  })
  return { ...part, changes: changes as ReplayedPart['changes'] }
}

parent.on('message', async ({ id, chainId, location, order }: ToReplayer) => {
  locations.set(chainId, location)
  const tell = (message: FromReplayer) => parent.postMessage(message)
  try {
    const { reader, filter } = await open(chainId)
    tell({ id, part: withOwnBytes(await readPart(reader, filter, order)) })
  } catch (error) {
    tell({ id, failure: packError(error) })
  }
})

/**
 * Entry of a worker thread that writes the stores of some chains. Not imported by anything: `createThreads` starts it
 * by its URL, so it is a bundle entry of its own. It loads nothing but the engine that is used.
 */
import { parentPort } from 'node:worker_threads'
import { openStoreWriter } from '@chain-data/index'
import type { ToSharedThread } from './createThreads.ts'
import { serveWriter } from './writerPort.ts'

if (parentPort === null) throw new Error('writerThread runs as a worker thread only')
const parent = parentPort

parent.on('message', (message: ToSharedThread) => {
  if (message.kind === 'serve') serveWriter(message.port, openStoreWriter)
  // From here on only the ports of chains keep the thread alive.
  else parent.close()
})

/**
 * Entry of a worker thread that decodes blocks of some chains. Not imported by anything: `createThreads` starts it by its
 * URL, so it is a bundle entry of its own.
 */
import { parentPort } from 'node:worker_threads'
import type { ToSharedThread } from './createThreads.ts'
import { createDecoder } from './decoderPort.ts'

if (parentPort === null) throw new Error('decoderThread runs as a worker thread only')
const parent = parentPort
const decoder = createDecoder()

parent.on('message', (message: ToSharedThread) => {
  if (message.kind === 'serve') decoder.serve(message.port)
})

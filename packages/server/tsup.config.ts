import { defineConfig } from 'tsup'

export default defineConfig({
  // Threads are started by their URL, so each has to stay a file of its own.
  entry: {
    index: 'src/index.ts',
    'cli/main': 'src/server/cli/main.ts',
    'indexer/indexerThread': 'src/server/indexer/indexerThread.ts',
    'indexer/writerThread': 'src/server/indexer/writerThread.ts',
    'indexer/decoderThread': 'src/server/indexer/decoderThread.ts'
  },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts' } },
  target: 'node20',
  clean: true
})

import { defineConfig } from 'tsup'

export default defineConfig({
  // Threads are started by their URL, so each has to stay a file of its own.
  entry: {
    index: 'src/index.ts',
    proxy: 'src/proxy/index.ts',
    'cli/main': 'src/cli/main.ts',
    'indexer/indexerThread': 'src/indexer/indexerThread.ts',
    'indexer/writerThread': 'src/indexer/writerThread.ts'
  },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts', proxy: 'src/proxy/index.ts' } },
  target: 'node20',
  sourcemap: true,
  clean: true
})

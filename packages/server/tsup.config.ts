import { defineConfig } from 'tsup'

export default defineConfig({
  // Threads are started by their URL, so each has to stay a file of its own.
  entry: {
    index: 'src/index.ts',
    'cli/main': 'src/server/cli/main.ts',
    'indexer/indexerThread': 'src/server/indexer/indexerThread.ts',
    'indexer/writerThread': 'src/server/indexer/writerThread.ts',
    'indexer/decoderThread': 'src/server/indexer/decoderThread.ts',
    'live/replayThread': 'src/features/liveStreams/live/replayThread.ts'
  },
  format: ['esm'],
  // The index is published as a part of the server. By its path its types count as the server's own.
  dts: {
    entry: { index: 'src/index.ts' },
    compilerOptions: { paths: { '@chain-data/index': ['../index/src/index.ts'] } }
  },
  noExternal: ['@chain-data/index'],
  esbuildOptions: options => {
    options.conditions = ['@chain-data/source']
  },
  target: 'node20',
  clean: true
})

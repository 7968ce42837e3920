import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    native: 'src/native.ts',
    fetch: 'src/fetch.ts',
    query: 'src/query/index.ts',
    msw: 'src/msw/index.ts'
  },
  format: ['esm', 'cjs'],
  dts: true,
  // One copy of the core for all entries, in CommonJS too.
  splitting: true,
  target: 'es2022',
  clean: true
})

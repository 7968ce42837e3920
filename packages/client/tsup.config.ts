import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    native: 'src/native.ts',
    fetch: 'src/fetch.ts',
    actions: 'src/actions.ts',
    viem: 'src/viem.ts',
    kit: 'src/kit.ts',
    query: 'src/query/index.ts',
    history: 'src/history/index.ts',
    route: 'src/route.ts',
    msw: 'src/msw/index.ts'
  },
  format: ['esm', 'cjs'],
  dts: true,
  // One copy of the core for all entries, in CommonJS too.
  splitting: true,
  // The sources are in the tarball, names and lines are kept: indentation would only be downloaded.
  esbuildOptions: options => {
    options.minifyWhitespace = true
    options.lineLimit = 120
  },
  plugins: [
    {
      name: 'no-bare-imports',
      // Entries would also import chunks of which they need nothing. Nothing has side effects, and bundlers warn of such imports.
      renderChunk: code => ({ code: code.replaceAll(/import"\.\/chunk-\w+\.js";/g, '') })
    }
  ],
  target: 'es2022',
  clean: true
})

import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'cli/main': 'src/cli/main.ts',
    // Started as a process of its own: packageFile finds it by this path.
    'solana/surfpoolChild': 'src/solana/surfpoolChild.ts'
  },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts' } },
  target: 'es2022',
  clean: true
})

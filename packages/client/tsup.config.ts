import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', msw: 'src/msw/index.ts' },
  format: ['esm', 'cjs'],
  dts: true,
  target: 'es2022',
  clean: true
})

import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/validators.ts', 'src/document.ts', 'src/examples.ts'],
  format: ['esm', 'cjs'],
  dts: true,
  target: 'es2022',
  clean: true,
  // Generated validators and the document are data to a reader; names stay readable in a stack trace.
  esbuildOptions: options => {
    options.minifyWhitespace = true
    options.minifySyntax = true
  }
})

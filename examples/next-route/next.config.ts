import { join } from 'node:path'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // Checked by `npm run types`, as everywhere in this repository.
  typescript: { ignoreBuildErrors: true },
  // Only because this example is part of a larger repository, whose packages are used without having been built.
  turbopack: {
    root: join(import.meta.dirname, '../..'),
    resolveAlias: {
      '@chain-data/client/route': '../../packages/client/src/route.ts',
      '@chain-data/protocol': '../../packages/protocol/src/index.ts'
    }
  }
}

export default config

import { join } from 'node:path'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // Checked by `npm run types`, as everywhere in this repository.
  typescript: { ignoreBuildErrors: true },
  // Only because this example is part of a larger repository.
  turbopack: { root: join(import.meta.dirname, '../..') }
}

export default config

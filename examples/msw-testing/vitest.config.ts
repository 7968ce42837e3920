import { defineConfig } from 'vitest/config'

// In this repository the packages are used as they are, without having been built. Elsewhere this file is not needed.
export default defineConfig({ ssr: { resolve: { conditions: ['@chain-data/source'] } } })

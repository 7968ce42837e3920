import type { Feature } from '../../server/feature/Feature.ts'
import { openOperatorPages } from './openOperatorPages.ts'

/** The status page at `/`, its data, and the figures for Prometheus. */
export const operatorPages: Feature = {
  name: 'operator-pages',
  settings: ['pages'],
  open: ({ config, figures, ownsProcess }) => ({
    openPages: openOperatorPages({ figures, served: config.pages, ownsProcess })
  })
}

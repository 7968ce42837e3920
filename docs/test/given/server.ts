import { createServer } from '@chain-data/server'
import { config } from './config.ts'

/** A server of the page's own. */
export const server = await createServer(config)

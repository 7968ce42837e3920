import { createAxiosTransport } from './axiosTransport.ts'
import { buildClient } from './buildClient.ts'
import type { ClientOptions } from './ClientOptions.ts'
import type { createClient } from './createClient.ts'

/**
 * The client of the main entry for React Native, over axios and `XMLHttpRequest`.
 *
 * axios would take `fetch` first, and with a size limit reads members of `URL` that React Native before 0.80 does not
 * have.
 */
export const createNativeClient = ((options: ClientOptions) =>
  buildClient(options, createAxiosTransport(['xhr']))) as typeof createClient

import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createClient as createFetchClient } from '../../src/fetch.ts'
import { createClient as createAxiosClient } from '../../src/index.ts'
import { type MatrixContext, runScenario, scenarios } from './scenarios.ts'
import { type MatrixServer, startMatrixServer } from './startMatrixServer.ts'

let server: MatrixServer
beforeAll(async () => {
  server = await startMatrixServer()
})
afterAll(() => server[Symbol.asyncDispose]())

const entries: Record<string, MatrixContext['createClient']> = {
  axios: options => createAxiosClient(options),
  fetch: options => createFetchClient(options)
}

describe.each(Object.entries(entries))('over %s, in Node', (_name, createClient) => {
  test.each(scenarios)('$title', async scenario => {
    await runScenario(scenario, {
      createClient,
      serverUrl: server.url,
      inspect: value => inspect(value, { depth: null, showHidden: true, getters: true })
    })
  })
})

import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { doors } from './doors.ts'
import { runScenario, scenariosOf } from './scenarios.ts'
import { type MatrixServer, startMatrixServer } from './startMatrixServer.ts'

let server: MatrixServer
beforeAll(async () => {
  server = await startMatrixServer()
})
afterAll(() => server[Symbol.asyncDispose]())

describe.each(Object.entries(doors))('%s in Node', (_name, door) => {
  test.concurrent.each(scenariosOf(door))('$title', async scenario => {
    await runScenario(scenario, {
      door,
      serverUrl: server.url,
      inspect: value => inspect(value, { depth: null, showHidden: true, getters: true })
    })
  })
})

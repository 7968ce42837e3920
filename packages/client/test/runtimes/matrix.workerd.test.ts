import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { doors } from '../matrix/doors.ts'
import { scenariosOf } from '../matrix/scenarios.ts'
import { type MatrixServer, startMatrixServer } from '../matrix/startMatrixServer.ts'
import { bundle, sourceConditions } from './bundle.ts'
import { findWorkerd, type RunningWorker, startWorker } from './workerd.ts'

const binary = findWorkerd()
if (binary === undefined) {
  process.stderr.write(
    `the matrix in workerd is skipped: no binary for ${process.platform} ${process.arch}\n`
  )
}

let server: MatrixServer
let worker: RunningWorker

describe.skipIf(binary === undefined)('in workerd', () => {
  beforeAll(async () => {
    server = await startMatrixServer()
    const { outputFiles } = await bundle({
      program: `
        import { runMatrix } from './matrixProgram.ts'
        export default {
          async fetch(request) {
            const [entry, title, serverUrl] = await request.json()
            return new Response(await runMatrix(entry, title, serverUrl))
          }
        }`,
      format: 'esm',
      conditions: [...sourceConditions, 'workerd', 'worker', 'browser']
    })
    worker = await startWorker(binary ?? '', outputFiles[0]?.text ?? '')
  })
  afterAll(async () => {
    await worker?.[Symbol.asyncDispose]()
    await server?.[Symbol.asyncDispose]()
  })

  describe.each(Object.entries(doors))('%s', (entry, door) => {
    test.concurrent.each(scenariosOf(door))('$title', async ({ title }) => {
      const body = JSON.stringify([entry, title, server.url])
      const response = await fetch(worker.url, { method: 'POST', body })
      expect([response.status, await response.text()]).toEqual([200, ''])
    })
  })
})

import { type Context, runInContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { doors } from '../matrix/doors.ts'
import { scenariosOf } from '../matrix/scenarios.ts'
import { type MatrixServer, startMatrixServer } from '../matrix/startMatrixServer.ts'
import { bundle, sourceConditions } from './bundle.ts'
import { createReactNativeContext } from './reactNative.ts'

/** What no library can promise there. */
const beyondReach = ['no request, and with it no Authorization, follows a redirect']

let server: MatrixServer
let context: Context

describe('with the globals of React Native', () => {
  beforeAll(async () => {
    server = await startMatrixServer()
    const { outputFiles } = await bundle({
      program: `export * from './matrixProgram.ts'`,
      format: 'iife',
      globalName: 'matrix',
      conditions: [...sourceConditions, 'react-native'],
      mainFields: ['react-native', 'browser', 'main']
    })
    context = createReactNativeContext()
    runInContext(outputFiles[0]?.text ?? '', context)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  test.each(['TextDecoder', 'ReadableStream', 'structuredClone', 'Buffer', 'require', 'document', 'crypto'])(
    'there is no %s',
    name => {
      expect(runInContext(`typeof ${name}`, context)).toBe('undefined')
    }
  )

  describe.each(Object.entries(doors))('%s', (entry, door) => {
    const within = scenariosOf(door).filter(
      ({ title, needs }) => !beyondReach.includes(title) && needs !== 'watch'
    )
    test.concurrent.each(within)('$title', async ({ title }) => {
      const call = [entry, title, server.url].map(argument => JSON.stringify(argument)).join(', ')
      expect(await runInContext(`matrix.runMatrix(${call})`, context)).toBe('')
    })
    test.skipIf(door.lacks?.includes('watch'))('a stream is refused at once, by its name', async () => {
      const options = `{ baseUrl: '${server.url}/says-nothing', auth: false, chainId: 1 }`
      const next = `matrix.doors['${entry}'].open(${options}).watch().next().catch(({ reason }) => reason)`
      expect(await runInContext(next, context)).toBe('STREAM_UNSUPPORTED')
    })
    // The network layer of the platform follows redirects below JavaScript, whatever `fetch` is told.
    test.skip.each(beyondReach)('%s', () => {})
  })
})

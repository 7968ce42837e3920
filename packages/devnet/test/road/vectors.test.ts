import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkFailure } from '@chain-data/protocol/validators'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDevnet, surfpoolUnsupportedReason, type Devnet } from '../../src/index.ts'
import { post } from './support/callService.ts'
import { startRoad, type Road } from './support/startRoad.ts'

const folder = new URL('../../../../spec/vectors/', import.meta.url).pathname

/** One round trip as the specification writes it down. */
function readVector(file: string) {
  const text = readFileSync(join(folder, file), 'utf8')
  const [shows = '', where = '', request = '', answer = '', ...rest] = text.trimEnd().split('\n')
  const path = /^\/\/ POST (\/\S+)$/.exec(where)?.[1]
  const isComplete = shows.startsWith('// ') && request.startsWith('>> ') && answer.startsWith('<< ')
  if (path === undefined || !isComplete || rest.length > 0) throw new Error(`${file} is no vector`)
  return { file, shows: shows.slice(3), path, request: request.slice(3), answer: answer.slice(3) }
}

const vectors = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.io'))
  .sort()
  .map(readVector)

let devnet: Devnet
let road: Road

beforeAll(async () => {
  devnet = await startDevnet({ seed: 36 })
  road = await startRoad(devnet)
})

afterAll(async () => {
  await road?.close()
  await devnet?.stop()
})

test('there are vectors of every method', () => {
  expect(vectors.length).toBeGreaterThanOrEqual(18)
  expect(new Set(vectors.map(({ file }) => file.split('/')[0])).size).toBe(5)
})

const served = vectors.filter(({ path }) => path !== '/solana' || surfpoolUnsupportedReason() === undefined)

test.each(served.map(vector => [vector.file, vector.shows, vector] as const))(
  '%s: %s',
  async (_file, _shows, vector) => {
    const { status, text } = await post(road.baseUrl + vector.path, vector.request)
    expect(status).toBe(200)
    const [answer, expected] = [JSON.parse(text), JSON.parse(vector.answer)] as { error: { data: object } }[]
    expect(checkFailure(answer)).toBeUndefined()
    // Wording is for people; everything else is the contract.
    const withoutWords = (value: typeof answer) => ({
      ...value,
      error: { ...value!.error, data: { ...value!.error.data, extraMessage: '' } }
    })
    expect(withoutWords(answer)).toStrictEqual(withoutWords(expected))
  }
)

import { afterAll, beforeAll, expect, test } from 'vitest'
import { putImage, putJson } from '../src/metadata/MetadataHost.ts'
import { type MetadataServer, startMetadataServer } from '../src/metadata/startMetadataServer.ts'

let server: MetadataServer

beforeAll(async () => {
  server = await startMetadataServer()
})

afterAll(async () => {
  await server?.stop()
})

test('serves JSON and images with their media types, at an origin of its own', async () => {
  expect(server.url).toBe(`http://${server.hostPort}`)
  const json = await fetch(putJson(server, '/a.json', { name: 'Größe' }))
  expect(json.headers.get('content-type')).toBe('application/json')
  expect(await json.json()).toEqual({ name: 'Größe' })
  const image = await fetch(putImage(server, '/a.svg', 'a'))
  expect(image.headers.get('content-type')).toBe('image/svg+xml')
  expect(await image.text()).toContain('<svg')
})

test('an unknown path is a 404, another verb than GET a 405, and both are counted', async () => {
  server.put('/known', { status: 200, contentType: 'text/plain', body: 'x' })
  expect((await fetch(`${server.url}/unknown`)).status).toBe(404)
  expect((await fetch(`${server.url}/known`, { method: 'POST', body: '' })).status).toBe(405)
  expect([
    server.requestsFor('/unknown'),
    server.requestsFor('/known'),
    server.requestsFor('/never')
  ]).toEqual([1, 1, 0])
})

test('a document may be replaced by a failure', async () => {
  const url = putJson(server, '/changing.json', {})
  server.put('/changing.json', { status: 503, contentType: 'text/plain', body: 'later' })
  expect((await fetch(url)).status).toBe(503)
})

test('a stopped server refuses connections, stopping again does nothing', async () => {
  const other = await startMetadataServer()
  await other.stop()
  await other.stop()
  await expect(fetch(other.url)).rejects.toThrow()
})

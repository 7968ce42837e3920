import { afterEach, expect, test } from 'vitest'
import { createGuardedFetch } from '../../src/features/metadata/guardedFetch.ts'
import { createResolvePublicHost } from '../../src/platform/network/dialAddress.ts'
import { type NameRecord, type NameServer, startNameServer } from './startNameServer.ts'

const publicV4 = '93.184.215.14'
const publicV6 = '2606:2800:021f:cb07:6820:80da:af6b:8b2c'
const privateV6 = 'fd00:0000:0000:0000:0000:0000:0000:0001'
const mappedV6 = '0000:0000:0000:0000:0000:ffff:0a00:0001'

let server: NameServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

/** The real resolver before a real name server; sockets are intercepted. */
async function fetchWith(answer: (name: string, type: 'A' | 'AAAA') => readonly NameRecord[] | undefined) {
  server = await startNameServer(answer)
  const dialled: string[] = []
  const fetch = createGuardedFetch({
    resolvePublic: createResolvePublicHost([server.address]),
    readInterfaces: () => ({}),
    dial: async ({ address }) => {
      dialled.push(address)
      throw new Error('intercepted')
    }
  })
  return { fetch, dialled, asked: server.asked }
}

const reason = (expected: string) => ({ context: { reason: expected } })

test.each([
  ['a public address of each family', [publicV4, publicV6], [publicV4, '2606:2800:21f:cb07:6820:80da:af6b:8b2c']],
  ['a chain of aliases that ends at a public address', ['-> a.names.art', '-> b.names.art', publicV4], [publicV4]]
])('%s is dialled', async (_what, records, addresses) => {
  const { fetch, dialled } = await fetchWith(() => records)
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('CONNECT'))
  expect(dialled).toEqual(addresses)
}) // biome-ignore format: a table

test.each([
  ['a private address', ['10.0.0.1']],
  ['a private address beside public ones', [publicV4, publicV4, '192.168.0.1']],
  ['a private IPv6 address beside a public IPv4 one', [publicV4, privateV6]],
  ['a mapped address beside a public one', [publicV4, mappedV6]],
  ['a chain of aliases that ends at a private address', ['-> a.names.art', '-> b.names.art', '127.0.0.1']],
  ['an alias of localhost', ['-> localhost', '127.0.0.1']],
  ['the address of a cloud metadata service', ['-> metadata.google.internal', '169.254.169.254']]
])('a name with %s is refused before anything is dialled', async (_what, records) => {
  const { fetch, dialled } = await fetchWith(() => records)
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('PRIVATE_ADDRESS'))
  expect(dialled).toEqual([])
})

test('a name that changes its answer gains nothing: what was checked is what is dialled', async () => {
  let questions = 0
  const { fetch, dialled, asked } = await fetchWith((_name, type) => {
    if (type === 'AAAA') return []
    return questions++ === 0 ? [publicV4] : ['127.0.0.1']
  })
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('CONNECT'))
  expect(dialled).toEqual([publicV4])
  expect([...asked].sort()).toEqual(['nft.names.art A', 'nft.names.art AAAA'])
  // Asked again, as a redirect back to it would be, it is judged anew.
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('PRIVATE_ADDRESS'))
  expect(dialled).toEqual([publicV4])
})

test.each([
  ['no record', () => []],
  ['an alias to nowhere', () => ['-> a.names.art']]
])('a name with %s leads nowhere', async (_what, answer) => {
  const { fetch } = await fetchWith(answer)
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('DNS'))
})

test('a name server that is silent is left when the caller gives up', async () => {
  const controller = new AbortController()
  const { fetch } = await fetchWith(() => {
    controller.abort()
    return undefined
  })
  await expect(fetch('https://nft.names.art/', { signal: controller.signal })).rejects.toMatchObject(
    reason('ABORTED')
  )
})

test('a name is asked for as it is, never with a search domain', async () => {
  const { fetch, asked } = await fetchWith(() => [])
  await expect(fetch('https://nft.names.art/')).rejects.toMatchObject(reason('DNS'))
  expect(new Set(asked.map(question => question.split(' ')[0]))).toEqual(new Set(['nft.names.art']))
})

/**
 * Holds the sizes a dApp pays for, and fails beyond their limits: `npm run size -w @chain-data/client` after a build.
 *
 * Each bundle is what a bundler makes of one short program for a browser: minified, tree-shaken, with everything it
 * imports, the protocol package included; gzip at level 9. Tarballs are measured unpacked, as npm counts them.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const here = fileURLToPath(new URL('./', import.meta.url))
const root = fileURLToPath(new URL('../../..', import.meta.url))

const oneMethod = (entry: string) => `
  import { createClient } from '${entry}'
  const client = createClient({ baseUrl: location.origin, auth: false, chainId: 1 })
  client.getTokensAndNFTs({ address: location.hash }).then(alert)
`

/** Bytes of a program and everything it needs, minified and gzipped. */
async function gzippedBytes(program: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: here, loader: 'js' },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none'
  })
  return gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).byteLength
}

/** Bytes of a package's tarball once unpacked. */
function unpackedBytes(name: string): number {
  const { stdout, stderr, status } = spawnSync(
    'npm',
    ['pack', '--dry-run', '--json', '-w', `packages/${name}`],
    { cwd: root, encoding: 'utf8' }
  )
  if (status !== 0) throw new Error(`npm pack of ${name} ended with ${status}:\n${stderr}`)
  const listed: unknown = JSON.parse(stdout)
  // npm prints a list, newer versions an object by package name.
  const [packed] = Object.values(listed as Record<string, { readonly unpackedSize: number }>)
  if (packed === undefined) throw new Error(`npm pack of ${name} told no size: ${stdout}`)
  return packed.unpackedSize
}

interface Measured {
  readonly what: string
  readonly bytes: number
  /** Growing beyond it fails the check. */
  readonly limit?: number
  /** What it is meant to be, where that is not reached yet; told with every run. The limit goes down with the size. */
  readonly goal?: number
}

/** A program that has a client already, with and without a live list. */
const withClient = `
  import { createClient, hasReason } from '@chain-data/client/fetch'
  const client = createClient({ baseUrl: location.origin, auth: false })
  client.getTransactionsByAddress({ chainId: 1, address: location.hash }).then(alert, hasReason)
`
const withHistory = `${withClient}
  import { createLiveHistory } from '@chain-data/client/history'
  const list = createLiveHistory(client, { chainId: 1, address: location.hash })
  list.subscribe(() => alert(list.getSnapshot()))
`

const withStreamedHistory = withHistory
  .replace('createLiveHistory }', 'createLiveHistory, createStreaming }')
  .replace('location.hash })\n  list', 'location.hash, feed: createStreaming() })\n  list')

const axiosAlone = await gzippedBytes(`import axios from 'axios'; axios.post(location.hash).then(alert)`)
const signedOptions = `{ baseUrl: location.origin, projectId: 'p', clientKey: location.hash, chainId: 1 }`
const actionsWith = (method: string) =>
  gzippedBytes(`
    import { createConnection, ${method} } from '@chain-data/client/actions'
    ${method}(createConnection(${signedOptions}), { address: location.hash }).then(alert)`)
const actions = await actionsWith('getTokensAndNFTs')
// Reads long integers, as the methods of viem and kit do.
const actionsWithHistory = await actionsWith('getTransactionsByAddress')
const watching = `
  import { createConnection, getTransactionsByAddress, watchAddresses } from '@chain-data/client/actions'
  const connection = createConnection(${signedOptions})
  getTransactionsByAddress(connection, { address: location.hash }).then(alert)
  for await (const event of watchAddresses(connection, { addresses: [location.hash] })) alert(event)`
const viem = `
  import { chainDataActions } from '@chain-data/client/viem'
  alert(chainDataActions(${signedOptions})(window.viem))`
const viemWatching = `
  import { chainDataActions, chainDataWatchActions } from '@chain-data/client/viem'
  alert(chainDataActions(${signedOptions})(window.viem), chainDataWatchActions(${signedOptions})(window.viem))`
const actionsWatching = await gzippedBytes(watching)
const kit = `
  import { chainData } from '@chain-data/client/kit'
  alert(chainData(${signedOptions})({}))`
const sizes: readonly Measured[] = [
  {
    what: '@chain-data/client/fetch with one method, gzip',
    bytes: await gzippedBytes(oneMethod('@chain-data/client/fetch')),
    limit: 6_620,
    goal: 5_600
  },
  { what: 'axios alone, gzip', bytes: axiosAlone },
  {
    what: '@chain-data/client with one method, gzip',
    bytes: await gzippedBytes(oneMethod('@chain-data/client')),
    limit: axiosAlone + 6_150,
    goal: axiosAlone + 4_800
  },
  {
    what: '@chain-data/client/actions with one method and a key, gzip',
    bytes: actions,
    limit: 4_730,
    goal: 4_300
  },
  { what: '@chain-data/client/actions with the history and a key, gzip', bytes: actionsWithHistory },
  { what: '@chain-data/client/viem, gzip', bytes: await gzippedBytes(viem), limit: actionsWithHistory + 600 },
  { what: '@chain-data/client/kit, gzip', bytes: await gzippedBytes(kit), limit: actionsWithHistory + 600 },
  {
    what: '@chain-data/client/query with the pages of a history, gzip',
    bytes: await gzippedBytes(
      `import { transactionPagesQuery } from '@chain-data/client/query'
       alert(transactionPagesQuery(window.client, { address: location.hash, chainId: 1 }))`
    ),
    limit: 1_000
  },
  {
    what: '@chain-data/client/history above the client, gzip',
    bytes: (await gzippedBytes(withHistory)) - (await gzippedBytes(withClient)),
    limit: 3_070
  },
  {
    what: '@chain-data/client/history fed by a stream, above the client, gzip',
    bytes: (await gzippedBytes(withStreamedHistory)) - (await gzippedBytes(withClient)),
    limit: 4_710
  },
  {
    what: 'watchAddresses above ./actions with the history, gzip',
    bytes: actionsWatching - actionsWithHistory,
    limit: 1_230
  },
  {
    what: '@chain-data/client/viem with chainDataWatchActions, gzip',
    bytes: await gzippedBytes(viemWatching),
    limit: actionsWatching + 600
  },
  {
    what: '@chain-data/client/route, gzip',
    bytes: await gzippedBytes(
      `import { createRoute } from '@chain-data/client/route'
       export default { fetch: createRoute({ baseUrl: window.url, projectId: 'p', serverKey: window.key, allow: [] }) }`
    ),
    limit: 4_700
  },
  { what: '@chain-data/client, unpacked', bytes: unpackedBytes('client'), limit: 698_000 },
  { what: '@chain-data/protocol, unpacked', bytes: unpackedBytes('protocol') }
]

for (const { what, bytes, limit, goal } of sizes) {
  const missing = goal === undefined ? '' : `; goal ${goal}, not reached`
  const bound = limit === undefined ? '' : `  (at most ${limit}${missing})`
  process.stdout.write(`${String(bytes).padStart(9)} bytes  ${what}${bound}\n`)
}
const tooLarge = sizes.filter(({ bytes, limit }) => limit !== undefined && bytes > limit)
if (tooLarge.length > 0) {
  throw new Error(`over the limit: ${tooLarge.map(({ what }) => what).join('; ')}`)
}

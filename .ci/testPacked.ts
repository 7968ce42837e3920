/**
 * Installs the packed packages, with `--ignore-scripts`, into empty projects and uses them as a stranger would:
 *
 * - every entry of `@chain-data/client` from ESM and from CommonJS, on Node 20, 22 and the repository's own, with its
 *   behaviour matrix, that also on Bun and Deno, its declarations with and without DOM types, and the small programs of
 *   `examples/` compiled, the wallet page among them opened in Chromium where there is one,
 * - the weight of `@chain-data/server` with all that npm installs for it,
 * - `chain-data serve --config` from `@chain-data/server` over a real chain, queried by that client, on Node 20, which has
 *   to name the command that brings SQLite, and the repository's own,
 * - `npx @chain-data/conformance` against that server, which has to pass,
 * - the client and the server, installed by pnpm, yarn and bun in place of npm,
 * - `chain-data-devnet --once` from `@chain-data/devnet` on the same two: both nodes, the worlds and all three methods.
 *
 * Needs `npm run build` first. `node .ci/testPacked.ts client` looks at the client alone.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkPackedPrograms, packagesOfPrograms } from './checkPackedPrograms.ts'
import { checkPackedTypes } from './checkPackedTypes.ts'
import { checkPackedWeight } from './checkPackedWeight.ts'
import { runPackedMatrix } from './runPackedMatrix.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const clientOnly = process.argv[2] === 'client'
const packages = clientOnly
  ? ['protocol', 'client']
  : ['protocol', 'client', 'server', 'devnet', 'conformance']
const clientFixtures = join(root, 'packages/client/test/packed')
const work = mkdtempSync(join(tmpdir(), 'chain-data-packed-'))
const children: ChildProcess[] = []

// Exact, as all tools are.
const bunVersion = '1.4.5'
const denoVersion = '2.9.6'
/** Other package managers than npm, each as the registry's package with its program. `yarn` itself is version 1 there. */
const managers = [
  { name: 'pnpm', from: 'pnpm@12.21.0', program: '.bin/pnpm', args: ['install', '--ignore-scripts'] },
  {
    name: 'yarn',
    from: '@yarnpkg/cli-dist@4.18.1',
    program: '.bin/yarn',
    args: ['install', '--mode=skip-build']
  },
  {
    name: 'bun',
    from: `@oven/bun-${process.platform}-${process.arch}@${bunVersion}`,
    program: `@oven/bun-${process.platform}-${process.arch}/bin/bun`,
    args: ['install', '--ignore-scripts']
  }
]

/** An environment whose first `node` is the given one, and in which no setting of ours reaches the programs. */
function environmentFor(node: string): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '').split(delimiter).filter(part => !part.includes('node_modules'))
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS|CHAIN_DATA_)/.test(name)
  )
  return { ...Object.fromEntries(entries), PATH: [dirname(node), ...path].join(delimiter) }
}

function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv }
): string {
  // A download that stalls: npm does not end on SIGTERM.
  const result = spawnSync(command, args, {
    ...options,
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL'
  })
  if (result.status !== 0) {
    throw new Error(
      `${command} ${args.join(' ')} ended with ${result.status ?? result.signal ?? result.error}\n${result.stdout}\n${result.stderr}`
    )
  }
  return result.stdout
}

/** A Node of this major version, from the registry's plain binary package. */
function installNode(major: number): string {
  const folder = join(work, `node${major}`)
  mkdirSync(folder)
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  run('npm', ['install', '--ignore-scripts', '--no-save', '--prefix', folder, `${name}@${major}`], {
    cwd: folder
  })
  return join(folder, 'node_modules', name, 'bin', 'node')
}

/** What a runtime's own package of this platform holds, unless the registry has none. */
function tryInstall(name: string, install: () => string): string | undefined {
  try {
    return install()
  } catch (error) {
    process.stdout.write(`${name} is skipped, it cannot be installed here: ${String(error).split('\n')[0]}\n`)
    return undefined
  }
}

/** The program of a package that holds one for this platform. */
function installRuntime(name: string, program: string): string {
  const folder = join(work, program)
  mkdirSync(folder, { recursive: true })
  run('npm', ['install', '--ignore-scripts', '--no-save', '--prefix', folder, name], { cwd: folder })
  return join(folder, 'node_modules', name.slice(0, name.lastIndexOf('@')), program)
}

/** Runtimes other than Node, by the arguments that come before a program. */
function installOthers(): { readonly name: string; readonly command: readonly [string, ...string[]] }[] {
  const { platform, arch } = process
  const denoPlatform = platform === 'linux' ? `linux-${arch}-glibc` : `${platform}-${arch}`
  const bun = tryInstall('Bun', () =>
    installRuntime(`@oven/bun-${platform}-${arch}@${bunVersion}`, 'bin/bun')
  )
  const deno = tryInstall('Deno', () => installRuntime(`@deno/${denoPlatform}@${denoVersion}`, 'deno'))
  return [
    ...(bun ? [{ name: `Bun ${bunVersion}`, command: [bun, 'run'] as const }] : []),
    ...(deno ? [{ name: `Deno ${denoVersion}`, command: [deno, 'run', '-A'] as const }] : [])
  ]
}

function pack(): string[] {
  const folder = join(work, 'tarballs')
  mkdirSync(folder)
  const workspaces = packages.flatMap(name => ['-w', `packages/${name}`])
  run('npm', ['pack', '--silent', ...workspaces, '--pack-destination', folder], { cwd: root })
  return readdirSync(folder).map(file => join(folder, file))
}

/** A new project that holds nothing but the named packages. */
function createProject(
  name: string,
  tarballs: readonly string[],
  wanted: readonly string[],
  env: NodeJS.ProcessEnv,
  others: readonly string[] = []
): string {
  const folder = join(work, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "name": "stranger", "private": true, "version": "1.0.0" }\n')
  const chosen = tarballs.filter(file => wanted.some(part => file.includes(`chain-data-${part}-`)))
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', ...chosen, ...others], { cwd: folder, env })
  return folder
}

/**
 * A new project that one of the other package managers installed. Packages that only exist as tarballs yet are named in each
 * manager's own words for "take this one".
 */
function installWith(
  manager: (typeof managers)[number],
  program: string,
  tarballs: readonly string[]
): string {
  const folder = join(work, `with-${manager.name}`)
  mkdirSync(folder)
  const dependencies = Object.fromEntries(
    ['protocol', 'client', 'server'].map(part => [
      `@chain-data/${part}`,
      `file:${tarballs.find(file => file.includes(`chain-data-${part}-`))}`
    ])
  )
  const project = { name: 'stranger', private: true, version: '1.0.0', dependencies }
  const overrides = { overrides: dependencies, resolutions: dependencies }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...project, ...overrides }))
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), `overrides: ${JSON.stringify(dependencies)}\n`)
  writeFileSync(join(folder, '.yarnrc.yml'), 'nodeLinker: node-modules\nenableTelemetry: false\n')
  writeFileSync(join(folder, 'yarn.lock'), '')
  run(program, manager.args, {
    cwd: folder,
    env: { ...environmentFor(process.execPath), ...registryForYarn(), CI: '' }
  })
  return folder
}

function installManager({ name, from, program }: (typeof managers)[number]): string {
  const folder = join(work, `${name}-tool`)
  mkdirSync(folder)
  run('npm', ['install', '--ignore-scripts', '--no-save', '--prefix', folder, from], { cwd: folder })
  return join(folder, 'node_modules', program)
}

/** Yarn reads no setting of npm: it is told which registry is used here. */
function registryForYarn(): NodeJS.ProcessEnv {
  const registry = run('npm', ['config', 'get', 'registry'], { cwd: work }).trim().replace(/\/$/, '')
  const { protocol, hostname } = new URL(registry)
  const plain = protocol === 'http:' ? { YARN_UNSAFE_HTTP_WHITELIST: hostname } : {}
  return { YARN_NPM_REGISTRY_SERVER: registry, ...plain }
}

function startAnvil(): Promise<string> {
  const require = createRequire(join(root, 'packages/devnet/package.json'))
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const platform = require.resolve(`@foundry-rs/anvil-${process.platform}-${arch}/package.json`)
  const child = spawn(join(dirname(platform), 'bin', 'anvil'), ['--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.push(child)
  return firstMatch(child, /Listening on (\S+)/, 'anvil').then(address => `http://${address}`)
}

/** Waits for the first line of standard output that matches, and gives its first group. */
function firstMatch(child: ChildProcess, pattern: RegExp, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk
      const found = pattern.exec(seen)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', code => reject(new Error(`${name} ended with ${code} before it was ready:\n${seen}`)))
    setTimeout(() => reject(new Error(`${name} was not ready after 60 s:\n${seen}`)), 60_000).unref()
  })
}

const askService = `
const client = createClient({ baseUrl: process.argv[2], projectId: 'demo', serverKey: 'demo-server-key', chainId: 31337 })
client.getTokensAndNFTs({ address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' }).then(holdings => {
  if (holdings.native !== '10000000000000000000000') throw new Error('unexpected answer: ' + JSON.stringify(holdings))
})
`

function configureServer(folder: string, rpcUrl: string): void {
  const config = {
    listen: { host: '127.0.0.1', port: 0 },
    store: `sqlite:${join(folder, 'data')}`,
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: 31337, rpcUrls: [rpcUrl] }] }
  }
  writeFileSync(join(folder, 'chain-data.json'), JSON.stringify(config))
}

/** Starts the server where Node has no SQLite, and returns the package that it says is to be installed. */
function askForSqlite(folder: string, env: NodeJS.ProcessEnv): string {
  const command = join(folder, 'node_modules/.bin/chain-data')
  const { status, stderr } = spawnSync(command, ['serve', '--config', 'chain-data.json'], {
    ...{ cwd: folder, env, encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' }
  })
  const wanted = /Run: npm install (libsql@\S+)/.exec(stderr)?.[1]
  if (status !== 1 || wanted === undefined) {
    throw new Error(`without SQLite, chain-data serve ended with ${status}:\n${stderr}`)
  }
  return wanted
}

async function serveAndAsk(folder: string, node: string): Promise<void> {
  const env = environmentFor(node)
  writeFileSync(join(folder, 'ask.mjs'), `import { createClient } from '@chain-data/client'\n${askService}`)
  writeFileSync(
    join(folder, 'ask.cjs'),
    `const { createClient } = require('@chain-data/client')\n${askService}`
  )
  const command = join(folder, 'node_modules/.bin/chain-data')
  const server = spawn(command, ['serve', '--config', 'chain-data.json'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.push(server)
  const url = await firstMatch(server, /"url":"([^"]+)"/, 'chain-data serve')
  await waitUntilReady(url)
  run(node, ['ask.mjs', url], { cwd: folder, env })
  run(node, ['ask.cjs', url], { cwd: folder, env })
  const access = ['--base-url', url, '--project', 'demo', '--key', 'demo-server-key']
  const report = run('npx', ['--no', '--', '@chain-data/conformance', ...access], { cwd: folder, env })
  if (!/^[1-9]\d+ passed, 0 failed,/m.test(report)) throw new Error(`the kit says of the server:\n${report}`)
  const ended = new Promise<number | null>(resolve => server.once('exit', resolve))
  server.kill('SIGTERM')
  const code = await ended
  if (code !== 0) throw new Error(`chain-data serve ended with ${code} on SIGTERM`)
}

async function waitUntilReady(url: string): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const response = await fetch(`${url}/health/ready`)
    if (response.ok) return
    const state = await response.text()
    if (Date.now() > deadline) throw new Error(`not ready after 60 s: ${state}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

/** Every entry, from both module systems, beside the newest msw that this Node can run. */
function useClient(folder: string, node: string, env: NodeJS.ProcessEnv): void {
  for (const file of ['exerciseClient.cjs', 'use.cjs', 'use.mjs', 'crossCopies.mjs']) {
    cpSync(join(clientFixtures, file), join(folder, file))
  }
  for (const file of ['use.mjs', 'use.cjs', 'crossCopies.mjs']) run(node, [file], { cwd: folder, env })
  // As Metro resolves it; what it does with React Native's globals is shown by the client's own tests.
  const native = `require('@chain-data/client').createClient({ baseUrl: 'https://rpc.example.com', auth: false })
    if (!require.resolve('@chain-data/client').endsWith('native.cjs')) throw new Error('another entry was taken')`
  run(node, ['--conditions=react-native', '--eval', native], { cwd: folder, env })
}

try {
  const tarballs = pack()
  // The promised range begins at 20 and is tried there, so that 22 may be missing.
  const node22 = tryInstall('Node 22', () => installNode(22))
  const nodes = [
    { name: 'Node 20', node: installNode(20), msw: 'msw@2' },
    ...(node22 === undefined ? [] : [{ name: 'Node 22', node: node22, msw: 'msw@3' }]),
    { name: 'the repository’s Node', node: process.execPath, msw: 'msw@3' }
  ]
  for (const [index, { name, node, msw }] of nodes.entries()) {
    const env = environmentFor(node)
    const version = run(node, ['--version'], { cwd: work }).trim()
    // Types of the entries name those of their peers, which whoever uses them has.
    const typed = ['@tanstack/query-core@5', '@solana/kit@8', 'viem@2']
    const peers = node === process.execPath ? [msw, ...typed] : [msw]
    const used = createProject(`client-${index}`, tarballs, ['protocol', 'client'], env, peers)
    useClient(used, node, env)
    process.stdout.write(`packed client works with ${msw} as ESM and CommonJS on ${name} (${version})\n`)
    const held = await runPackedMatrix(used, [node], env)
    process.stdout.write(`packed client behaves in ${held} scenarios on ${name}\n`)
    if (node === process.execPath) {
      for (const { name, command } of installOthers()) {
        const held = await runPackedMatrix(used, command, env)
        process.stdout.write(`packed client behaves in ${held} scenarios on ${name}\n`)
      }
      checkPackedTypes(used, clientFixtures)
      process.stdout.write('declarations of the packed client compile with and without DOM types\n')
      const programs = createProject('programs', tarballs, ['protocol', 'client'], env, packagesOfPrograms)
      checkPackedPrograms(programs)
      process.stdout.write('the small programs compile against the packed client\n')
      const wallet = ['--conditions=@chain-data/source', join(root, '.ci/openWalletPage.ts'), programs]
      process.stdout.write(run(node, wallet, { cwd: root, env }))
    }
    if (clientOnly || node === node22) continue
    if (node === process.execPath) {
      const weight = checkPackedWeight(createProject('weight', tarballs, ['protocol', 'server'], env))
      process.stdout.write(`the packed server is small: ${weight}\n`)
      for (const manager of managers) {
        const program = tryInstall(manager.name, () => installManager(manager))
        if (program === undefined) continue
        const folder = installWith(manager, program, tarballs)
        run(
          node,
          [
            '--eval',
            "require('@chain-data/client').createClient({ baseUrl: 'https://rpc.example.com', auth: false })"
          ],
          {
            cwd: folder,
            env
          }
        )
        const printed = run(join(folder, 'node_modules/.bin/chain-data'), ['--version'], { cwd: folder, env })
        process.stdout.write(
          `packed client and server ${printed.trim()} work when ${manager.name} installs them\n`
        )
      }
    }
    const served = createProject(
      `server-${index}`,
      tarballs,
      ['protocol', 'client', 'server', 'conformance'],
      env
    )
    configureServer(served, await startAnvil())
    // Node 20 alone; whoever has another also has its SQLite.
    const sqlite = node === process.execPath ? [] : [askForSqlite(served, env)]
    if (sqlite.length > 0) run('npm', ['install', '--ignore-scripts', ...sqlite], { cwd: served, env })
    await serveAndAsk(served, node)
    process.stdout.write(`packed client, server and conformance kit work on ${name} (${version})\n`)
    const devnet = createProject(`devnet-${index}`, tarballs, packages, env, sqlite)
    const printed = run(join(devnet, 'node_modules/.bin/chain-data-devnet'), ['--once'], { cwd: devnet, env })
    if (!printed.includes('svc_getTransactionsByAddress'))
      throw new Error(`devnet printed no answers:\n${printed}`)
    process.stdout.write(`packed devnet works on ${name} (${version})\n`)
  }
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
}

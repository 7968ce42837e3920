/**
 * Does what packages/server/Dockerfile says, without a daemon: every stage becomes a temporary folder, COPY and RUN are
 * carried out in it, and the server of the last stage is started with the image's own environment, entry point and
 * health check, asked, and ended by the image's stop signal. What the folders cannot show is the user and the base image.
 *
 * Installs from the registry, as a build of the image does. `npm run test:image`
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'chain-data-image-'))

interface Stage {
  readonly folder: string
  workingDirectory: string
  readonly environment: Record<string, string>
  readonly last: Record<string, string>
}

/** The daemon's copy of the context, by the same rules as Dockerfile.dockerignore in the terms of a file's name. */
function isInContext(file: string): boolean {
  return !/(^|\/)(node_modules|dist|test|bench|chain-data)(\/|$)|\.(test|test-d|bench|contract)\.ts$/.test(
    file.slice(root.length)
  )
}

function readInstructions(): readonly (readonly [string, string])[] {
  return readFileSync(join(root, 'packages/server/Dockerfile'), 'utf8')
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .join('\n')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => {
      const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? []
      return [name, rest.trim()] as const
    })
}

/** Only Node, npm and the system: a stage has nothing of this repository on its path. */
function environmentOf(stage: Stage): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '').split(delimiter).filter(part => !part.includes('node_modules'))
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_)|NODE_OPTIONS|CHAIN_DATA_)/.test(name)
  )
  return {
    ...Object.fromEntries(kept),
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    ...stage.environment
  }
}

/** Paths of the image that a command names are those of the stage's folder; there is one user here. */
function run(stage: Stage, command: string): void {
  const here = command.replace(/ && chown \S+ \S+/, '').replaceAll(' /data', ` ${join(stage.folder, 'data')}`)
  const result = spawnSync('sh', ['-c', here], {
    cwd: join(stage.folder, stage.workingDirectory),
    env: environmentOf(stage),
    encoding: 'utf8',
    timeout: 300_000,
    killSignal: 'SIGKILL'
  })
  if (result.status !== 0) throw new Error(`RUN ${command} failed\n${result.stdout}\n${result.stderr}`)
}

function copy(stage: Stage, stages: ReadonlyMap<string, Stage>, words: readonly string[]): void {
  const [first = '', ...others] = words
  const from = first.startsWith('--from=') ? stages.get(first.slice('--from='.length)) : undefined
  const sources = from === undefined ? words.slice(0, -1) : others.slice(0, -1)
  const given = words.at(-1) ?? ''
  const target = resolve(join(stage.folder, stage.workingDirectory), given)
  for (const source of sources) {
    const path = from === undefined ? join(root, source) : join(from.folder, source)
    // A folder's content is copied, a file into a folder that ends in a slash.
    const to = statSync(path).isFile() && given.endsWith('/') ? join(target, basename(path)) : target
    const filter = from === undefined ? isInContext : () => true
    cpSync(path, to, { recursive: true, filter, verbatimSymlinks: true })
  }
}

function build(): Stage {
  const stages = new Map<string, Stage>()
  let stage: Stage | undefined
  for (const [name, rest] of readInstructions()) {
    if (name === 'FROM') {
      const alias = / AS (\S+)$/.exec(rest)?.[1] ?? 'final'
      stage = { folder: join(work, alias), workingDirectory: '/', environment: {}, last: {} }
      mkdirSync(stage.folder)
      stages.set(alias, stage)
    }
    if (stage === undefined) throw new Error(`${name} before the first FROM`)
    stage.last[name] = rest
    if (name === 'WORKDIR') {
      stage.workingDirectory = rest
      mkdirSync(join(stage.folder, rest), { recursive: true })
    } else if (name === 'COPY') copy(stage, stages, rest.split(/\s+/))
    else if (name === 'RUN') run(stage, rest)
    else if (name === 'ENV') {
      for (const [, key = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/g)) stage.environment[key] = value
    }
  }
  const final = stages.get('final')
  if (final === undefined) throw new Error('the Dockerfile has no last stage')
  return final
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>(done => probe.listen(0, '127.0.0.1', done))
  const address = probe.address()
  await new Promise(done => probe.close(done))
  return typeof address === 'object' && address !== null ? address.port : 0
}

function start(stage: Stage, command: readonly string[], environment: Record<string, string>): ChildProcess {
  const [program = '', ...args] = command.map(part => part.replace(/^\/app\//, `${stage.folder}/app/`))
  return spawn(program, args, {
    cwd: join(stage.folder, stage.workingDirectory),
    env: { ...environmentOf(stage), ...environment },
    stdio: ['ignore', 'inherit', 'inherit']
  })
}

const ended = (child: ChildProcess) => new Promise<number | null>(done => child.once('exit', done))

try {
  const final = build()
  process.stdout.write('every step of the Dockerfile works\n')
  const entry = JSON.parse(final.last.ENTRYPOINT ?? '[]') as string[]
  const health = JSON.parse(/CMD (\[.*\])$/.exec(final.last.HEALTHCHECK ?? '')?.[1] ?? '[]') as string[]
  const environment = {
    CHAIN_DATA_HOST: '127.0.0.1',
    CHAIN_DATA_PORT: String(await freePort()),
    CHAIN_DATA_OPERATOR: 'main',
    CHAIN_DATA_STORE: `sqlite:${join(final.folder, 'data')}`,
    CHAIN_DATA_EVM_31337: 'http://127.0.0.1:1',
    CHAIN_DATA_PROJECT: 'demo:demo-server-key'
  }
  if ((await ended(start(final, health, environment))) === 0)
    throw new Error('the health check finds a server where there is none')
  const server = start(final, [...entry, ...JSON.parse(final.last.CMD ?? '[]')], environment)
  const end = ended(server)
  try {
    const deadline = Date.now() + 60_000
    while ((await ended(start(final, health, environment))) !== 0) {
      if (Date.now() > deadline) throw new Error('the health check does not pass')
      await new Promise(done => setTimeout(done, 200))
    }
    const answer = await fetch(`http://127.0.0.1:${environment.CHAIN_DATA_PORT}/metrics`)
    if (!(await answer.text()).includes('chain_data_sync_')) throw new Error('the server has no metrics')
    server.kill(final.last.STOPSIGNAL as NodeJS.Signals)
    const code = await end
    if (code !== 0) throw new Error(`the server ended with ${code} on ${final.last.STOPSIGNAL}`)
  } finally {
    server.kill('SIGKILL')
  }
  process.stdout.write('the server of the image starts, is healthy and ends in good order\n')
} finally {
  rmSync(work, { recursive: true, force: true })
}

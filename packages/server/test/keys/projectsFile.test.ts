import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { ConfigError } from '../../src/platform/errors.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { parseProjects } from '../../src/server/config/config.ts'
import { digestKey, formatKeyDigest } from '../../src/server/projects/keyDigest.ts'
import { openProjects } from '../../src/server/projects/openProjects.ts'
import { readProjectsFile, toKeptProject, writeProjectsFile } from '../../src/server/projects/projectsFile.ts'

const digestOf = (key: string) => formatKeyDigest(digestKey(key))
const digest = digestOf('top-secret')
const textOf = (projects: unknown) => JSON.stringify({ projects })
const demo = { projectId: 'demo', serverKeys: [digest] }

/** It takes a moment; on a busy machine, several. */
const soon = { timeout: patient(20_000) }
let folder: string
let file: string
const closing: (() => void)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-keys-'))
  file = join(folder, 'projects.json')
})
afterEach(async () => {
  for (const close of closing.splice(0)) close()
  await rm(folder, { recursive: true })
})

describe('the projects file', () => {
  const project = {
    projectId: 'grüße',
    keys: [
      { kind: 'server' as const, key: digest, name: 'backend', createdAt: '2026-11-21T12:00:00Z' },
      {
        kind: 'client' as const,
        key: digest,
        origins: ['https://a.example'],
        expiresAt: '2026-12-31T00:00:00Z'
      }
    ],
    rateLimit: { requestsPerSecond: 5, burst: 10 }
  }

  it('is read as it was written, for its owner only, and nothing is left beside it', async () => {
    await writeFile(file, textOf([]), { mode: 0o644 })
    await writeFile(`${file}.new`, 'of a process that was killed', { mode: 0o644 })
    await writeProjectsFile(file, [project])
    const [read] = await readProjectsFile(file)
    expect(toKeptProject(read!)).toMatchObject(project)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['projects.json'])
  })

  it('stays behind the link that leads to it', async () => {
    const target = join(folder, 'target.json')
    await writeFile(target, textOf([]))
    await symlink(target, file)
    await writeProjectsFile(file, [project])
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    expect(await readProjectsFile(target)).toHaveLength(1)
  })

  const isRoot = process.getuid?.() === 0
  it.skipIf(!isRoot)('keeps its owner when root changes it (only root can show it)', async () => {
    await writeFile(file, textOf([]))
    await chown(file, 65_534, 65_534)
    await writeProjectsFile(file, [project])
    expect(await stat(file)).toMatchObject({ uid: 65_534, gid: 65_534 })
  })

  it.each<[string, string | undefined, RegExp]>([
    ['is not there', undefined, /could not be read \(ENOENT\); expected a file made by/],
    [
      'is no JSON',
      `{"projects": [{"key": "top-secret`,
      /is not JSON: unexpected text .*Expected one JSON object/
    ],
    ['is a list', '[]', /has another form; expected an object with "projects"/],
    ['has no projects', '{}', /has another form/],
    ['has more than projects', '{"projects": [], "serverKey": "top-secret"}', /has another form/],
    [
      'has an unknown member',
      textOf([{ ...demo, secret: 'top-secret' }]),
      /projects\[0\]\.secret is not a key/
    ],
    [
      'has a server key in plain text',
      textOf([{ ...demo, serverKey: 'top-secret' }]),
      /projects\[0\]\.serverKey is no digest; expected one made by/
    ],
    [
      'has another in plain text',
      textOf([{ ...demo, serverKeys: [digest, { key: 'top-secret' }] }]),
      /serverKeys\[1\] is no digest/
    ],
    [
      'has a client key in plain text',
      textOf([{ ...demo, clientKeys: [{ key: 'top-secret', origins: ['https://a.example'] }] }]),
      /clientKeys\[0\]\.key is no digest/
    ],
    ['has a project twice', textOf([demo, demo]), /projects\[1\]\.projectId is "demo"; expected .*used once/],
    ['has a project without keys', textOf([{ projectId: 'demo' }]), /serverKey is missing; expected password/]
  ])('is refused by name and without its keys when it %s', async (_what, text, message) => {
    if (text !== undefined) await writeFile(file, text)
    const failure = await readProjectsFile(file).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ConfigError)
    expect(String(failure)).toMatch(message)
    expect(String(failure)).toContain(`projectsFile "${file}"`)
    expect(String(failure)).not.toMatch(/top-secret|hmac-sha256/)
  })

  it('is whole whenever its writer is killed', async () => {
    await writeProjectsFile(file, [])
    const script = fileURLToPath(new URL('writeForever.ts', import.meta.url))
    for (let round = 0; round < 5; round++) {
      const writer = spawn(process.execPath, ['--conditions=@chain-data/source', script, file, digest], {
        stdio: ['ignore', 'pipe', 'inherit']
      })
      const ended = once(writer, 'close')
      // It writes hundreds of files a second, so it is killed within one.
      await once(writer.stdout, 'data')
      for (let read = 0; read < 20; read++) await readProjectsFile(file)
      writer.kill('SIGKILL')
      await ended
      expect((await readProjectsFile(file)).length).toBeGreaterThan(0)
    }
  })
})

describe('projects in force', () => {
  const never = 3_600_000
  async function open(change: Partial<Parameters<typeof openProjects>[0]> = {}) {
    const lines: string[] = []
    const projects = await openProjects({
      configured: [],
      file,
      logger: createLogger({ level: 'info', write: line => lines.push(line) }),
      watching: { settleMs: 5, pollMs: never },
      ...change
    })
    closing.push(projects.close)
    const messages = () => lines.map(line => (JSON.parse(line) as { msg: string }).msg)
    const has = (key: string, projectId = 'demo') => projects.keyRing.find(projectId, key) !== undefined
    return { projects, lines, messages, has }
  }
  const write = (...keys: string[]) =>
    writeProjectsFile(
      file,
      parseProjects([{ projectId: 'demo', serverKeys: keys.map(digestOf) }]).map(toKeptProject)
    )

  it('change as soon as their file is replaced', async () => {
    await write('one')
    const { has, lines } = await open()
    expect([has('one'), has('two')]).toEqual([true, false])
    await write('two')
    await expect.poll(() => [has('one'), has('two')], soon).toEqual([false, true])
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ msg: 'projects reloaded', count: 1 })
  })

  it('change when nothing tells that the file has become another one', async () => {
    // As a folder that is mounted into a container is changed: two links lead to the file, and the other one moves.
    for (const [name, key] of [
      ['a', 'one'],
      ['b', 'two']
    ] as const) {
      await mkdir(join(folder, name))
      await writeFile(
        join(folder, name, 'projects.json'),
        textOf([{ projectId: 'demo', serverKeys: [digestOf(key)] }])
      )
    }
    await symlink('a', join(folder, 'data'))
    await symlink('data/projects.json', file)
    const { has } = await open({ watching: { settleMs: 5, pollMs: 20 } })
    expect(has('one')).toBe(true)
    await symlink('b', join(folder, 'other'))
    await rename(join(folder, 'other'), join(folder, 'data'))
    await expect.poll(() => has('two'), soon).toBe(true)
  })

  it('change as soon as their file can be read, where it could not be when it was replaced', async () => {
    await write('one')
    let isBroken = false
    const readFile: typeof readProjectsFile = async path => {
      if (isBroken) throw new ConfigError('could not be read (EMFILE)', { unread: true })
      return readProjectsFile(path)
    }
    const { has, lines, messages } = await open({ watching: { settleMs: 5, pollMs: 5 }, readFile })
    isBroken = true
    await write('two')
    await expect.poll(() => lines.join(''), soon).toContain('EMFILE')
    isBroken = false
    await expect.poll(() => [has('one'), has('two')], soon).toEqual([false, true])
    expect(messages()).toEqual(['projects not reloaded', 'projects reloaded'])
  })

  it('stay as they are while the file is wrong or gone, which the log tells without a key', async () => {
    await write('one')
    const { has, lines, messages } = await open({ watching: { settleMs: 5, pollMs: 20 } })
    await writeFile(file, textOf([{ projectId: 'demo', serverKeys: ['top-secret', digest] }]))
    await expect.poll(messages, soon).toContain('projects not reloaded')
    expect(lines.join('')).toContain('projects[0].serverKeys[0] is no digest')
    await unlink(file)
    await expect.poll(() => lines.join(''), soon).toContain('ENOENT')
    expect(has('one')).toBe(true)
    await write('two')
    await expect.poll(() => has('two'), soon).toBe(true)
    expect(lines.join('')).not.toMatch(/top-secret|hmac-sha256/)
  })

  it('are replaced as a whole, or not at all', async () => {
    await write('one')
    const configured = parseProjects([{ projectId: 'other', serverKey: 'k' }])
    let reloads = 0
    const { projects, has } = await open({ configured, onReload: () => reloads++ })
    expect([has('one'), has('k', 'other')]).toEqual([true, true])
    await projects.reload(parseProjects([{ projectId: 'third', serverKey: 'l' }]))
    expect([has('one'), has('k', 'other'), has('l', 'third'), reloads]).toEqual([true, false, true, 1])
    const twice = projects.reload(parseProjects([{ projectId: 'demo', serverKey: 'm' }]))
    await expect(twice).rejects.toThrow(
      /^Project "demo" is in projects and in projectsFile .*; expected it in one/
    )
    await projects.reload()
    expect([has('one'), has('l', 'third'), has('m')]).toEqual([true, true, false])
  })

  it('cannot begin with a file that is wrong', async () => {
    await expect(open()).rejects.toThrow(ConfigError)
    await write('one')
    const configured = parseProjects([{ projectId: 'demo', serverKey: 'k' }])
    await expect(open({ configured })).rejects.toThrow(/expected it in one of them/)
  })
})

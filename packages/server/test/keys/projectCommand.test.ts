import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { changeProjectsFile } from '../../src/server/cli/changeProjectsFile.ts'
import { addKey } from '../../src/server/projects/editProjects.ts'
import { digestKey, formatKeyDigest } from '../../src/server/projects/keyDigest.ts'
import { writeProjectsFile } from '../../src/server/projects/projectsFile.ts'
import { type RunningCommand, runCommand } from '../cli/runCommand.ts'
import { runProject } from './runProject.ts'

const digest = formatKeyDigest(digestKey('a key'))
/** It takes a moment; on a busy machine, several. */
const soon = { timeout: patient(20_000) }
let folder: string
let file: string
let running: RunningCommand[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-project-'))
  file = join(folder, 'projects.json')
  running = []
})
afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL')
    await ended
  }
  await rm(folder, { recursive: true })
})

interface Made {
  readonly id: string
  readonly key: string
  readonly old: { readonly id: string; readonly expiresAt: string }
}

async function make(...args: string[]): Promise<Made> {
  const { out, error, code } = await runProject(...args, '--file', file, '--json')
  expect([error, code]).toEqual(['', 0])
  return JSON.parse(out)
}

async function listed(): Promise<{ projectId: string; keys: Record<string, unknown>[] }[]> {
  return JSON.parse((await runProject('list', '--file', file, '--json')).out).projects
}

const config = {
  listen: { port: 0 },
  store: 'sqlite::memory:',
  // Waiting for a key to work takes as many wrong logins as the machine is slow.
  login: false,
  chains: { solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:1'] }] }
}

async function writeConfig(change: object): Promise<string> {
  const path = join(folder, 'config.json')
  await writeFile(path, JSON.stringify({ ...config, ...change }))
  return path
}

describe('a key', () => {
  it('lives from create over rotate to revoke without a restart of the server, and is in no line that it writes', async () => {
    const first = runCommand(['project', 'create', 'demo', '--file', file])
    running.push(first)
    expect(await first.ended).toBe(0)
    const one = /Server key[^:]*: (\S+)/.exec(first.stdout())?.[1] ?? ''
    const path = await writeConfig({ projectsFile: file, log: { level: 'debug' } })
    const server = runCommand(['serve', '--config', path])
    running.push(server)
    await expect.poll(() => server.stdout() + server.stderr(), soon).toContain('"listening"')
    const url = String(server.logLines().find(({ msg }) => msg === 'listening')?.url)
    const statusOf = async (key: string, projectId = 'demo') => {
      const authorization = `Basic ${Buffer.from(`${projectId}:${key}`).toString('base64')}`
      const body = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover","chainId":103,"params":[]}'
      const headers = { authorization, 'content-type': 'application/json' }
      return (await fetch(`${url}/solana`, { method: 'POST', headers, body })).status
    }
    const statuses = (...keys: string[]) => Promise.all(keys.map(key => statusOf(key)))
    expect(await statuses(one, 'wrong')).toEqual([200, 401])

    const two = await make('rotate', 'demo')
    await expect.poll(() => statuses(one, two.key), soon).toEqual([200, 200])
    const three = await make('rotate', 'demo', '--grace', '1s')
    await expect.poll(() => statuses(one, two.key, three.key), soon).toEqual([200, 401, 200])
    await make('revoke', 'demo', '--key', two.old.id)
    await expect.poll(() => statuses(one, three.key), soon).toEqual([401, 200])

    await writeFile(file, '{"projects": [{"projectId": "demo", "serverKey": "top-secret"}]}')
    await expect.poll(() => server.stdout(), soon).toContain('projects not reloaded')
    expect(await statusOf(three.key)).toBe(200)

    await writeConfig({ projects: [{ projectId: 'other', serverKey: 'configured-key' }], projectsFile: file })
    expect(await statusOf('configured-key', 'other')).toBe(401)
    await rm(file)
    await make('create', 'demo', '--name', 'again')
    server.child.kill('SIGHUP')
    await expect.poll(() => statusOf('configured-key', 'other'), soon).toBe(200)
    expect(server.logLines().findLast(({ msg }) => msg === 'projects reloaded')).toMatchObject({ count: 2 })
    await writeConfig({ projects: [{ projectId: 'a:b', serverKey: 'top-secret' }] })
    server.child.kill('SIGHUP')
    await expect.poll(() => server.stdout(), soon).toContain('projects[0].projectId is')
    expect(await statusOf('configured-key', 'other')).toBe(200)

    server.child.kill('SIGTERM')
    expect(await server.ended).toBe(0)
    const written = server.stdout() + server.stderr()
    for (const key of [one, two.key, three.key, 'configured-key', 'top-secret', 'hmac-sha256']) {
      expect(written).not.toContain(key)
    }
  })

  it('is lost by none of many commands at once, whichever link they find the file by', async () => {
    const link = join(folder, 'link.json')
    await symlink(file, link)
    await writeProjectsFile(file, [])
    const names = Array.from({ length: 8 }, (_, index) => `project-${index}`)
    const nowMs = Date.now()
    const add = (projectId: string, index: number) =>
      changeProjectsFile(index % 2 === 0 ? file : link, projects => ({
        projects: addKey(projects, { projectId, key: { kind: 'server', key: digest }, nowMs }),
        result: undefined
      }))
    await Promise.all(names.map(add))
    expect((await listed()).map(({ projectId }) => projectId)).toEqual(names)
  })

  it('is shown once, and never by its list', async () => {
    const made = [
      await make('create', 'shop', '--name', 'backend', '--expires', '90d'),
      await make(
        'create',
        'shop',
        '--client',
        '--origin',
        'https://a.example',
        '--origin',
        'http://localhost:5173'
      )
    ]
    const table = (await runProject('list', '--file', file)).out
    const rows = table.split('\n')
    expect(rows[0]).toMatch(/^PROJECT +KEY +KIND +NAME +CREATED +EXPIRES +SOURCE +ORIGINS$/)
    expect(rows[1]).toMatch(new RegExp(`^shop +${made[0]?.id} +server +backend +20.*Z +20.*Z +file +-$`))
    expect(rows[2]).toMatch(
      new RegExp(`^shop +${made[1]?.id} +client +- +20.*Z +- +file +https://a.example http://localhost:5173$`)
    )
    const [project] = await listed()
    expect(project?.keys).toMatchObject([
      { id: made[0]?.id, kind: 'server', name: 'backend', ended: false },
      { id: made[1]?.id, kind: 'client', origins: ['https://a.example', 'http://localhost:5173'] }
    ])
    const kept = await readFile(file, 'utf8')
    const digests = [...kept.matchAll(/"(hmac-sha256:[^"]+)"/g)].map(([, digest = '']) => digest)
    expect(digests).toHaveLength(2)
    for (const secret of [...made.map(({ key }) => key), ...digests]) {
      expect(table + JSON.stringify(project)).not.toContain(secret)
      if (!digests.includes(secret)) expect(kept).not.toContain(secret)
    }
  })

  it('of a configuration is listed beside those of the file, in plain text without an id', async () => {
    await make('create', 'kept')
    const path = await writeConfig({
      projectsFile: file,
      projects: [{ projectId: 'demo', serverKey: 'top-secret' }]
    })
    const { out } = await runProject('list', '--config', path)
    expect(out).toMatch(
      /\ndemo +plain text +server +- +- +- +configuration +-\nkept +[0-9a-f]{8} +server .* file +-\n$/
    )
    expect(out).not.toContain('top-secret')
  })

  it.each<[string[], (entry: unknown) => void]>([
    [
      [],
      entry => expect(entry).toEqual({ projectId: 'demo', serverKey: expect.stringMatching(/^hmac-sha256:/) })
    ],
    [
      ['--client', '--origin', 'https://a.example'],
      entry => expect(entry).toMatchObject({ clientKeys: [{ origins: ['https://a.example'] }] })
    ],
    [['--name', 'n'], entry => expect(entry).toMatchObject({ serverKeys: [{ name: 'n' }] })]
  ])('without a file is printed with what the configuration takes: %j', async (args, check) => {
    const { out } = await runProject('create', 'demo', ...args)
    expect(out).toContain('shown once')
    const entry = JSON.parse(out.slice(out.indexOf('{')))
    check(entry)
    const path = await writeConfig({ projects: [entry] })
    expect((await runProject('list', '--config', path)).code).toBe(0)
  })
})

describe('a command that cannot be done', () => {
  it.each<[string, string[], RegExp]>([
    ['a project id with a colon', ['create', 'a:b'], /'a:b' is invalid.*without a colon/],
    ['no project id', ['create', ''], /without a colon/],
    ['a client key for nowhere', ['create', 'x', '--client'], /has no --origin; expected the origins/],
    [
      'a server key with an origin',
      ['create', 'x', '--origin', 'https://a.example'],
      /expected --client with it/
    ],
    [
      'an origin with a path',
      ['create', 'x', '--client', '--origin', 'https://a.example/'],
      /'https:\/\/a\.example\/' is invalid. Expected scheme, host and port/
    ],
    ['any origin', ['create', 'x', '--client', '--origin', '*'], /Expected scheme, host and port/],
    ['a name with a line break', ['create', 'x', '--name', 'a\nb'], /Expected 1 to 64 characters/],
    [
      'a name that is taken',
      ['create', 'demo', '--name', 'first'],
      /has a key named "first"; expected another/
    ],
    [
      'a time that is none',
      ['rotate', 'demo', '--grace', 'soon'],
      /'soon' is invalid. Expected a time such as/
    ],
    ['a time without unit', ['create', 'x', '--expires', '90'], /Expected a time such as/],
    [
      'a key that has no life',
      ['create', 'x', '--expires', '0'],
      /'0' is invalid. Expected a time longer than 0/
    ],
    ['an unknown project', ['rotate', 'x'], /Project "x" is not in the projects file; expected one that/],
    [
      'an unknown key',
      ['revoke', 'demo', '--key', 'x'],
      /has no key "x"; expected the id of one of them: [0-9a-f]{8} \(server, first\)/
    ],
    [
      'the last key',
      ['revoke', 'demo', '--key', 'first'],
      /takes the last key of project "demo".* expected --yes/
    ],
    ['a whole project', ['revoke', 'demo'], /expected --yes/]
  ])('says what was expected, exits 1 and changes nothing: %s', async (_what, args, message) => {
    await make('create', 'demo', '--name', 'first')
    const before = await readFile(file, 'utf8')
    const { out, error, code } = await runProject(...args, '--file', file)
    expect([out, code]).toEqual(['', 1])
    expect(error).toMatch(message)
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  it('is one on a project of the configuration, on no file, or on a folder that is not there', async () => {
    const path = await writeConfig({
      projectsFile: file,
      projects: [{ projectId: 'demo', serverKey: 'top-secret' }]
    })
    for (const args of [
      ['create', 'demo'],
      ['rotate', 'demo'],
      ['revoke', 'demo', '--yes']
    ]) {
      expect(await runProject(...args, '--config', path)).toMatchObject({
        code: 1,
        error: expect.stringContaining('"demo" is in the configuration, which this command does not change')
      })
    }
    expect((await runProject('rotate', 'demo')).error).toContain(
      'expected --file, or projectsFile in the configuration'
    )
    const lost = await runProject('create', 'demo', '--file', join(folder, 'nowhere', 'projects.json'))
    expect(lost).toMatchObject({ code: 1, error: expect.stringContaining('expected a folder that is there') })
    expect(lost.error).toContain('unable to open database file')
  })

  it('exits 2 over a file that is wrong, and leaves it alone', async () => {
    const wrong = '{"projects": [{"projectId": "demo", "serverKey": "top-secret"}]}'
    await writeFile(file, wrong)
    for (const args of [['create', 'x'], ['list'], ['rotate', 'demo'], ['revoke', 'demo', '--yes']]) {
      const { error, code } = await runProject(...args, '--file', file)
      expect(code).toBe(2)
      expect(error).toMatch(/^Configuration error:\nprojectsFile .*serverKey is no digest; expected/)
      expect(error).not.toContain('top-secret')
    }
    expect(await readFile(file, 'utf8')).toBe(wrong)
  })

  it('is done with --yes, after which the project is gone', async () => {
    await make('create', 'demo')
    await make('create', 'demo', '--client', '--origin', 'https://a.example')
    const { out, code } = await runProject('revoke', 'demo', '--yes', '--file', file)
    expect([out, code]).toEqual([expect.stringContaining('Keys left: 0'), 0])
    expect(await listed()).toEqual([])
  })
})

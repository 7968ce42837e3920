import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const sources = ['packages/index/src', 'packages/server/src']

/**
 * What biome, with the project's own configuration, says to sources that do not exist.
 * @param sources - code by path below the root.
 * @returns the paths of those that break one of the two rules.
 */
async function refusedOf(sources: ReadonlyMap<string, string>): Promise<ReadonlySet<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-lint-'))
  try {
    for (const name of ['biome.json', '.gitignore']) await copyFile(join(root, name), join(folder, name))
    for (const [path, code] of sources) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), code)
    }
    const { stdout } = spawnSync(
      join(root, 'node_modules/.bin/biome'),
      ['lint', '--reporter=json', '--max-diagnostics=none', '.'],
      { cwd: folder, encoding: 'utf8' }
    )
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { category: string; severity: string; location: { path: string } }[]
    }
    return new Set(
      diagnostics
        .filter(
          ({ category, severity }) =>
            severity === 'error' && /style\/noRestricted(Imports|Globals)$/.test(category)
        )
        .map(({ location }) => location.path.replace(/^\.\//, ''))
    )
  } finally {
    await rm(folder, { recursive: true })
  }
}

const places = [
  ...['server/metadata', 'server/metadata/deeper', 'evm/blocks', 'solana', 'server/methods'].map(
    folder => `packages/server/src/${folder}`
  ),
  'packages/index/src/store'
]

const waysOut = [
  "export const a = (url: string) => fetch(url)",
  "export const a = (url: string) => globalThis.fetch(url)",
  "export const { fetch: a } = globalThis",
  "export const a = (url: string) => new WebSocket(url)",
  "export const a = (url: string) => new EventSource(url)",
  "export const a = () => new XMLHttpRequest()",
  "import { connect } from 'node:net'; connect(1)",
  "import { Socket } from 'net'; new Socket()",
  "import pg from 'pg'; new pg.Client()",
  "import * as net from 'node:net'; net.connect(1)",
  "import net from 'node:net'; net.connect(1)",
  "import { connect } from 'node:tls'; connect(1)",
  "import { get } from 'node:http'; get('')",
  "import http from 'http'; http.get('')",
  "import { request } from 'node:https'; request('')",
  "import { connect } from 'node:http2'; connect('')",
  "import { createSocket } from 'node:dgram'; createSocket('udp4')",
  "import { lookup } from 'node:dns/promises'; lookup('')",
  "import { resolve } from 'node:dns'; resolve('', () => {})",
  "import { execFile } from 'node:child_process'; execFile('curl')",
  "const { get } = await import('node:http'); get('')",
  "const { get } = require('node:https'); get('')",
  "import { fetch as other } from 'undici'; other('')",
  "import axios from 'axios'; axios('')",
  "import WebSocket from 'ws'; new WebSocket('')",
  "import { FetchRequest } from 'ethers'; new FetchRequest('')",
  "import { ethers } from 'ethers'; ethers.getDefaultProvider()",
  "import { Connection } from '@solana/web3.js'; new Connection('')"
] // biome-ignore format: a table

const harmless = [
  "import { isIP } from 'node:net'; export const a = isIP('')",
  "import type { IncomingMessage } from 'node:http'; export type A = IncomingMessage",
  "import { getAddress } from 'ethers'; export const a = getAddress('')",
  "import { PublicKey } from '@solana/web3.js'; export const a = new PublicKey('')",
  'export const a = (fetch: (url: string) => void) => fetch("")'
]

test('every way to the network is refused by the lint, in every folder that may be tempted', async () => {
  const sources = new Map(
    places.flatMap(place => waysOut.map((code, i) => [`${place}/way${i}.ts`, code] as const))
  )
  const refused = await refusedOf(sources)
  expect([...sources].filter(([path]) => !refused.has(path))).toEqual([])
})

test('what contacts nobody, tests and the free files pass the lint', async () => {
  const sources = new Map(harmless.map((code, i) => [`${places[0]}/harmless${i}.ts`, code]))
  sources.set(`${places[0]}/some.test.ts`, waysOut.join('\n'))
  sources.set(
    'packages/server/src/platform/network/dialAddress.ts',
    "import { connect } from 'node:net'; connect(1)"
  )
  sources.set('packages/server/src/features/metadata/refused.ts', waysOut[0] ?? '')
  expect([...(await refusedOf(sources))]).toEqual(['packages/server/src/features/metadata/refused.ts'])
})

/** Files that may open connections, as paths below the root, with what they may use for it: the table of docs/architecture.md. */
function readContacts(): Map<string, string[]> {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const [, section = ''] = page.split(/^## Who may contact whom$/m)
  const rows = section.split(/^## /m, 1)[0]!.matchAll(/^\| `(.+?)` \|.*\| (.+) \|$/gm)
  return new Map(
    [...rows].map(([, file = '', uses = '']) => [
      file.startsWith('packages/') ? file : `packages/server/src/${file}`,
      [...uses.matchAll(/`(.+?)`/g)].map(([, use = '']) => use)
    ])
  )
}

test('exactly the named files are free of the rule, and each uses what it is free for', () => {
  const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as {
    overrides: { includes: string[] }[]
  }
  const contacts = readContacts()
  expect(contacts.size).toBeGreaterThan(5)
  const free = (config.overrides.at(-1)?.includes ?? []).flatMap(expandBraces)
  expect(free.sort()).toEqual([...contacts.keys()].sort())
  const networkUse =
    /'((?:node:)?(?:net|tls|https?|http2|dgram|dns(?:\/promises)?)|ws|pg|@solana\/web3\.js)'|\b(fetch)\(/g
  for (const [file, expected] of contacts) {
    const code = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    const uses = [...code.matchAll(networkUse)].map(([, module, global]) => module ?? global ?? '')
    expect([...new Set(uses)].sort(), file).toEqual([...expected].sort())
  }
})

test('nothing is loaded by a way that the lint does not see, and no file excuses itself', () => {
  const files = sources
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`)
    )
    .filter(file => file.endsWith('.ts') && !/\.test\.ts$|\/test\//.test(file))
  expect(files.length).toBeGreaterThan(100)
  const found = files.flatMap(file => {
    const code = readFileSync(join(root, file), 'utf8')
    const loads = [...code.matchAll(/(getBuiltinModule|createRequire|process\.binding)\(.*/g)].map(
      ([text]) => text
    )
    const excuses = [...code.matchAll(/biome-ignore lint\/style\/noRestricted.*/g)].map(([text]) => text)
    return [...loads, ...excuses].map(text => `${file}: ${text}`)
  })
  expect(found.sort()).toEqual([
    "packages/index/src/sqlite/loadDriver.ts: createRequire(import.meta.url)('libsql')",
    "packages/index/src/sqlite/loadDriver.ts: getBuiltinModule('node:sqlite')"
  ])
})

/** `a/{b,c}.ts` as `a/b.ts` and `a/c.ts`. */
function expandBraces(pattern: string): string[] {
  const [, before = '', names, after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? []
  return names === undefined ? [pattern] : names.split(',').map(name => before + name + after)
}

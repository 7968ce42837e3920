import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createTestDatabase, eventually, findPostgres, startPostgres } from '@chain-data/index/test'
import pg from 'pg'
import { describe, expect, it } from 'vitest'

async function ask(url: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

describe('the PostgreSQL of the tests', () => {
  it('gives every test an empty database of its own', async () => {
    const [first, second] = [await createTestDatabase(), await createTestDatabase()]
    await ask(first, 'CREATE TABLE things (id int)')
    expect(await ask(second, "SELECT to_regclass('things')")).toEqual([null])
    const [version] = await ask(first, "SELECT current_setting('server_version_num')::int / 10000")
    expect(version).toBeGreaterThanOrEqual(15)
  })

  it('comes from the package where none is on the path', async () => {
    const postgres = await startPostgres({ programs: findPostgres('') })
    expect(await ask(await postgres.createDatabase(), 'SELECT 1 + 1')).toEqual([2])
    await postgres.stop()
    expect(existsSync(postgres.socketFolder)).toBe(false)
  })

  it('ends and leaves nothing behind when the process that started it is killed', async () => {
    const support = new URL('../../../index/test/support/startPostgres.ts', import.meta.url).href
    const script = `const { socketFolder } = await (await import('${support}')).startPostgres()
      console.log(socketFolder); setInterval(() => {}, 1_000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: fileURLToPath(new URL('./', import.meta.url)),
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const [line] = await once(child.stdout, 'data')
    const folder = String(line).trim()
    expect(existsSync(`${folder}/data/postmaster.pid`)).toBe(true)
    child.kill('SIGKILL')
    await eventually('the folder is gone', () => !existsSync(folder))
  })
})

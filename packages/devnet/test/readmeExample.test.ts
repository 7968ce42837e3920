import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('..', import.meta.url))

test('the example of the README runs as it stands, and its reorg undoes its transaction', async () => {
  const readme = await readFile(`${folder}/README.md`, 'utf8')
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''
  expect(example).toContain('driver.reorg(')
  const look = `
console.log(JSON.stringify([node.chainId, world.transactions.find(({ label }) => label === 'mine')?.state]))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@chain-data/source', '--input-type=module-typescript', '--eval', example + look],
    { cwd: folder, timeout: 50_000 }
  )
  expect(JSON.parse(stdout)).toEqual([31337, 'dropped'])
}, 60_000)

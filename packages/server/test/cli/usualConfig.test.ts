import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCommand } from './runCommand.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-usual-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function end(...args: string[]) {
  const command = runCommand(args, {}, folder)
  const exitCode = await command.ended
  return { exitCode, stdout: command.stdout(), stderr: command.stderr() }
}

const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

it('commands read the chain-data.json of the folder that they are called in', async () => {
  const config = {
    listen: { port: 1 },
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    projectsFile: 'projects.json',
    chains: { solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:1'] }] }
  }
  await writeFile(join(folder, 'chain-data.json'), JSON.stringify(config))
  await writeFile(join(folder, 'projects.json'), JSON.stringify({ projects: [] }))
  const [status, verify, create] = await Promise.all([
    end('status'),
    end('verify', '1', account),
    end('project', 'create', 'shop')
  ])
  expect(status.stdout).toContain('solana 103')
  expect(verify.stderr).not.toContain('Configuration error')
  expect(verify.stderr).toContain('127.0.0.1:1')
  expect(create).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('projects.json') })

  await writeFile(join(folder, 'chain-data.json'), JSON.stringify({ ...config, listen: { prot: 1 } }))
  const typo =
    'listen.prot is not a key of the configuration (did you mean "port"?); expected one of: host, port,'
  const refused = await Promise.all([end('serve'), end('check')])
  for (const { exitCode, stderr } of refused) {
    expect(exitCode).toBe(2)
    expect(stderr).toContain(typo)
  }
})

it('commands say what to do where no configuration is', async () => {
  expect(await end('serve')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(
      /There is no chain-data\.json in this folder, .*`chain-data init`, or another file by --config/
    )
  })
})

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DevnetError } from '../DevnetError.ts'

const require = createRequire(import.meta.url)

const platformNames: Record<string, string> = {
  'linux x64': 'linux-amd64',
  'linux arm64': 'linux-arm64',
  'darwin x64': 'darwin-amd64',
  'darwin arm64': 'darwin-arm64',
  'win32 x64': 'win32-amd64'
}

/**
 * Path of the anvil binary for this machine.
 *
 * The platform package is resolved directly: the wrapper's own command needs an install script, which may be
 * switched off.
 *
 * @throws {DevnetError} `UNSUPPORTED_PLATFORM` where no such package is installed.
 */
export function anvilBinary(): string {
  const machine = `${process.platform} ${process.arch}`
  const platform = platformNames[machine]
  if (platform === undefined) throw unsupported(`there is no build of it for ${machine}`)
  const name = `@foundry-rs/anvil-${platform}`
  let root: string
  try {
    // The platform package is an optional dependency of the wrapper, not of ours: look from there.
    const wrapper = createRequire(require.resolve('@foundry-rs/anvil/package.json'))
    root = dirname(wrapper.resolve(`${name}/package.json`))
  } catch {
    throw unsupported(`the package ${name} is not installed`)
  }
  const binary = join(root, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  if (!existsSync(binary)) throw unsupported(`${name} holds no binary`)
  return binary
}

function unsupported(why: string) {
  return new DevnetError('UNSUPPORTED_PLATFORM', `anvil cannot run here: ${why}`)
}

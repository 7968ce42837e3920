import { parseAddress, parseAddressRange } from '../../platform/addressRange.ts'
import { ConfigError } from '../../platform/errors.ts'
import type { Project } from '../config/projectsSchema.ts'
import { estimateKeyBits } from './estimateKeyBits.ts'
import { isKeyDigest } from './keyDigest.ts'
import { toKeptProject } from './projectsFile.ts'

/** Randomness below which a key can be guessed in time, by who has its digest if by nobody else. */
const leastKeyBits = 128
const isLoopbackAddress = parseAddressRange('loopback')

/** A server key in plain text that can be guessed. */
export interface WeakKey {
  readonly projectId: string
  /** Its randomness, estimated. */
  readonly bits: number
}

/**
 * Finds server keys in plain text that are too weak for others than this machine. Client keys are public, and of a digest nothing can be
 * told.
 */
export function findWeakKeys(projects: readonly Project[]): readonly WeakKey[] {
  return projects.flatMap(project => {
    const { projectId, keys } = toKeptProject(project)
    return keys
      .filter(({ kind, key }) => kind === 'server' && !isKeyDigest(key))
      .map(({ key }) => ({ projectId, bits: estimateKeyBits(key) }))
      .filter(({ bits }) => bits < leastKeyBits)
  })
}

/** Describes a weak key, and what to do about it. */
export function describeWeakKey({ projectId, bits }: WeakKey): {
  readonly found: string
  readonly advice: string
} {
  return {
    found: `a server key of project "${projectId}" has about ${bits} bits of randomness`,
    advice: `have one made of 256 bits with \`chain-data project create ${projectId}\``
  }
}

/** Returns whether only this machine reaches a host name or address. */
export function isLoopback(host: string): boolean {
  const address = parseAddress(host)
  return address === undefined ? /^(.+\.)?localhost$/i.test(host) : isLoopbackAddress?.(address) === true
}

/** How callers from other machines get to a server. */
interface Exposure {
  /** The setting, as the end of a sentence. */
  readonly setting: string
  /** The setting with its effect, as the begin of a sentence. */
  readonly effect: string
  readonly alternative: string
}

/** Finds how others than this machine may call: directly, or through a proxy; absent where none may. */
export function findExposure({ host, trustedProxies }: Listen): Exposure | undefined {
  if (!isLoopback(host)) {
    return {
      setting: 'listen.host is not loopback',
      effect: `listen.host is "${host}", where others than this machine may call`,
      alternative: 'or listen on 127.0.0.1'
    }
  }
  if (trustedProxies.length === 0) return undefined
  return {
    setting: 'listen.trustedProxies names a proxy',
    effect: 'listen.trustedProxies names a proxy, through which others than this machine may call',
    alternative: 'or without such a proxy name none'
  }
}

interface Listen {
  readonly host: string
  readonly trustedProxies: readonly string[]
}

/** @throws {ConfigError} others than this machine may call, and a server key in plain text is too weak for that. */
export function requireStrongKeys(listen: Listen, projects: readonly Project[]): void {
  const exposure = findExposure(listen)
  if (exposure === undefined) return
  const { effect, alternative } = exposure
  const problems = findWeakKeys(projects).map(weak => {
    const { found, advice } = describeWeakKey(weak)
    return `${effect}, and ${found}; expected at least ${leastKeyBits}: ${advice}, ${alternative}`
  })
  if (problems.length > 0) throw new ConfigError([...new Set(problems)].join('\n'))
}

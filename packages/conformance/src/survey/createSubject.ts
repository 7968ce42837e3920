import { type EndpointPath, endpoints, methodFacts } from '@chain-data/protocol'
import { Broken, NotShown } from '../checks/verdicts.ts'
import type { Service } from '../wire/createService.ts'
import { type Chains, type Extension, isOffered, reasonOf, someSolanaAddress } from './extensions.ts'
import { findChain } from './findChain.ts'
import { findEvmAccounts } from './findEvmAccounts.ts'
import type { Reading, Subject } from './Subject.ts'

/** What the person who runs it knows. */
export interface SubjectOptions {
  /** Absent: the lowest that the service names. */
  readonly evmChain: number | undefined
  readonly solanaChain: number | undefined
  /** Of both families, told apart by their form. */
  readonly addresses: readonly string[]
  /** Most EVM accounts that are looked at, found ones included. */
  readonly accounts: number
}

const isEvm = (address: string) => address.startsWith('0x')

/** A subject that asks the service for what nobody has told. */
export function createSubject(service: Service, options: SubjectOptions): Subject {
  const { evmChain, solanaChain, addresses, accounts } = options
  const chainOf: Readonly<Record<EndpointPath, () => Promise<number | undefined>>> = {
    '/evm-chain': once(async () => evmChain ?? findChain(service, '/evm-chain')),
    '/solana': once(async () => solanaChain ?? findChain(service, '/solana'))
  }

  /** Those that are known; what keeps the other one from being known, its own checks say. */
  const chains = once(async (): Promise<Chains> => {
    const found = await Promise.all(endpointPaths.map(path => chainOf[path]().catch(() => undefined)))
    const known = endpointPaths.flatMap((path, at) => (found[at] === undefined ? [] : [[path, found[at]]]))
    return Object.fromEntries(known) as Chains
  })
  const lookedAt = new Set<string>()
  const offered = new Map<Extension, Promise<boolean | undefined>>()

  async function read(method: keyof typeof methodFacts, params: readonly unknown[], on?: EndpointPath) {
    const known = await chains()
    const endpoint = on ?? methodFacts[method].endpoints.find(path => known[path] !== undefined)
    const chainId = endpoint === undefined ? undefined : known[endpoint]
    if (endpoint === undefined || chainId === undefined) throw new NotShown('no chain is served')
    const { exchange, body, exact } = await service.call({ endpoint, method, chainId, params })
    if (typeof body !== 'object' || body === null || !('result' in body)) {
      throw new Broken(`${method} gave no result${because(body)}`, exchange)
    }
    return { value: body.result, exact: (exact as { result: unknown }).result, exchange }
  }

  const subject: Subject = {
    service,
    chainOf: endpoint => chainOf[endpoint](),
    offers(extension) {
      const known = offered.get(extension)
      if (known !== undefined) return known
      const asked = chains().then(found => isOffered(extension, service, found))
      offered.set(extension, asked)
      return asked
    },
    evmAccounts: once(async () => {
      const found = await findEvmAccounts(subject, addresses.filter(isEvm), accounts)
      for (const { address } of found) lookedAt.add(address)
      return found
    }),
    solanaAddresses: once(async () => {
      const given = addresses.filter(address => !isEvm(address))
      const asked = given.length > 0 ? given : [someSolanaAddress]
      for (const address of asked) lookedAt.add(address)
      return asked
    }),
    lookedAt: () => [...lookedAt],
    read: read as (...args: Parameters<Subject['read']>) => Promise<Reading<never>>
  }
  return subject
}

/** Both endpoints, in the order of the document. */
export const endpointPaths = Object.keys(endpoints) as EndpointPath[]

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    done ??= work()
    return done
  }
}

/** The reason of a refusal, in words. */
function because(body: unknown): string {
  const reason = reasonOf(body)
  return typeof reason === 'string' ? `: ${reason}` : ''
}

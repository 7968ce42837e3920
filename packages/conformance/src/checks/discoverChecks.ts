import { type MethodName, methodFacts, serviceVersion, wireName } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { Subject } from '../survey/Subject.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { Broken, holds } from './verdicts.ts'

async function checkDocument(subject: Subject): Promise<void> {
  const { value, exchange } = await subject.read('rpc.discover', [])
  const mistake = checkResult('rpc.discover', value)
  if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
  const names = new Set(value.methods.map(({ name }) => name))
  const documented = (Object.keys(methodFacts) as MethodName[]).filter(name => !methodFacts[name].extension)
  for (const name of documented.map(each => wireName(each, subject.service.methodPrefix))) {
    holds(names.has(name), () => `the document has no ${name}`, exchange)
  }
  const [major] = serviceVersion.split('.')
  const version = String(value.info.version)
  holds(version.startsWith(`${major}.`), () => `it is of version ${version}, not ${major}`, exchange)
}

async function checkWithoutChain(subject: Subject): Promise<void> {
  const { value, exact, exchange: first } = await subject.read('rpc.discover', [])
  holds(Array.isArray(value?.methods), () => 'it has no methods', first)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] })
  for (const target of ['/evm-chain', '/solana']) {
    const exchange = await subject.service.exchange({ target, body })
    const { result } = JSON.parse(exchange.received.text) as { result?: unknown }
    const different = differenceOf(result, exact)
    holds(different === undefined, () => `${target} without a chain: ${different}`, exchange)
  }
}

const base = {
  endpoints: [],
  where: '#/components/schemas/OpenRpcDocument',
  extension: 'rpc.discover'
} as const

/** What holds for the document that a service shows. */
export const discoverChecks: readonly Check[] = [
  {
    ...base,
    name: 'discover/document',
    shows: 'The document names the documented methods as this host serves them, and its version.',
    run: checkDocument
  },
  {
    ...base,
    name: 'discover/no-chain',
    shows: 'The document is the same on both endpoints, and needs no chain.',
    run: checkWithoutChain
  }
]

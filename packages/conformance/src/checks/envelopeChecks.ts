import { type EndpointPath, transport } from '@chain-data/protocol'
import { checkFailure, checkSuccess } from '@chain-data/protocol/validators'
import { endpointPaths } from '../survey/createSubject.ts'
import { preflight, someEvmAddress, someSolanaAddress } from '../survey/extensions.ts'
import { unservedChain } from '../survey/findChain.ts'
import type { Subject } from '../survey/Subject.ts'
import type { Answer, Call } from '../wire/createService.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { eachShown } from './eachShown.ts'
import { Broken, holds, NotShown } from './verdicts.ts'

/** A documented call of each endpoint that succeeds on every chain. */
async function honestCall(subject: Subject, endpoint: EndpointPath): Promise<Call | undefined> {
  const chainId = await subject.chainOf(endpoint)
  if (chainId === undefined) return undefined
  return endpoint === '/solana'
    ? { endpoint, chainId, method: 'enhancedGetTokensAndNFTs', params: [someSolanaAddress] }
    : { endpoint, chainId, method: 'svc_getTokensAndNFTs', params: [someEvmAddress] }
}

/** Looks at one honest call of each endpoint that serves a chain. */
async function onEachEndpoint(subject: Subject, look: (call: Call) => Promise<void>): Promise<void> {
  const calls = await Promise.all(endpointPaths.map(endpoint => honestCall(subject, endpoint)))
  await eachShown(
    calls.filter(call => call !== undefined),
    'served chain',
    async call => {
      await look(call)
      return 1
    }
  )
}

const ids = [1, 0, -1, 9_007_199_254_740_991]

async function checkSuccesses(subject: Subject): Promise<void> {
  await onEachEndpoint(subject, async call => {
    for (const id of ids) {
      const { exchange, body } = await subject.service.call({ ...call, id })
      const mistake = checkSuccess(body)
      if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
      const { result: _, ...envelope } = body as { result: unknown }
      const echoed = call.endpoint === '/solana' ? { chainId: call.chainId } : {}
      const different = differenceOf(envelope, { jsonrpc: '2.0', id, ...echoed })
      holds(different === undefined, () => String(different), exchange)
      holds(exchange.received.status === 200, () => `HTTP ${exchange.received.status}, not 200`, exchange)
    }
  })
}

async function checkUnserved(subject: Subject): Promise<void> {
  await onEachEndpoint(subject, async call => {
    const other = await subject.chainOf(call.endpoint === '/solana' ? '/evm-chain' : '/solana')
    for (const chainId of other === undefined || other === call.chainId
      ? [unservedChain]
      : [unservedChain, other]) {
      const { exchange, body } = await subject.service.call({ ...call, chainId })
      const mistake = checkFailure(body)
      if (mistake !== undefined) throw new Broken(`${mistake.path} ${mistake.message}`, exchange)
      const { data } = (body as { error: { data: { reason: string; supportedChainIds?: number[] } } }).error
      holds(data.reason === 'UNSUPPORTED_CHAIN', () => `refused as ${data.reason}`, exchange)
      const supported = data.supportedChainIds ?? []
      holds(supported.includes(call.chainId), () => `does not name chain ${call.chainId}`, exchange)
      const ascending = supported.toSorted((one, other) => one - other)
      holds(differenceOf(supported, ascending) === undefined, () => 'the chains do not ascend', exchange)
    }
  })
}

async function checkWrongKeys(subject: Subject): Promise<void> {
  const { service } = subject
  const wrong = [
    service.credentials(service.projectId, service.wrongKey),
    service.credentials(`${service.projectId}-of-nobody`, service.wrongKey)
  ]
  await onEachEndpoint(subject, async call => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: call.method, params: call.params })
    for (const headers of wrong) {
      const exchange = await service.exchange({ target: call.endpoint, headers, body })
      const { status, headers: received, text } = exchange.received
      holds(status === 401, () => `HTTP ${status}, not 401`, exchange)
      const challenge = received['www-authenticate']
      holds(
        challenge === transport.challenge,
        () => `the challenge is ${JSON.stringify(challenge)}`,
        exchange
      )
      holds(text.includes('UNAUTHENTICATED'), () => 'the reason is not UNAUTHENTICATED', exchange)
    }
  })
}

async function checkPages(subject: Subject): Promise<void> {
  const list = (text: string | undefined) => (text ?? '').toLowerCase().split(/\s*,\s*/)
  const allowed = await subject.service.exchange(preflight)
  const { headers } = allowed.received
  for (const name of transport.requestHeaders) {
    const may = list(headers['access-control-allow-headers']).includes(name.toLowerCase())
    holds(may, () => `pages may not send ${name}`, allowed)
  }
  const mayPost = list(headers['access-control-allow-methods']).includes('post')
  holds(mayPost, () => 'pages may not POST', allowed)
  await onEachEndpoint(subject, async ({ endpoint }) => {
    const exchange = await subject.service.exchange({
      target: endpoint,
      headers: { origin: preflight.headers.origin, authorization: '' },
      body: '{}'
    })
    const { headers: received } = exchange.received
    const origin = received['access-control-allow-origin']
    const canRead = origin === '*' || origin === preflight.headers.origin
    holds(canRead, () => 'a page cannot read a refusal', exchange)
    for (const name of transport.exposedHeaders) {
      const seen = list(received['access-control-expose-headers']).includes(name.toLowerCase())
      holds(seen, () => `a page cannot read ${name}`, exchange)
    }
  })
}

async function checkBatches(subject: Subject): Promise<void> {
  const accounts = await subject.evmAccounts().catch(() => [])
  await onEachEndpoint(subject, async ({ endpoint, chainId, method, params }) => {
    const others =
      endpoint === '/solana'
        ? []
        : accounts
            .slice(0, 2)
            .map(({ address }) => ({ method: 'svc_getTransactionsByAddress', params: [address] }))
    const calls = [{ method, params }, ...others].map(
      (call, at) => ({ ...call, chainId, id: at + 10 }) as Call
    )
    await compareParts(subject, endpoint, calls)
  })
}

const attempts = 4

/** Asks for the parts before and after the batch: only where they are the same twice, the batch has to be it too. */
async function compareParts(subject: Subject, endpoint: EndpointPath, calls: readonly Call[]): Promise<void> {
  const askAlone = () => Promise.all(calls.map(call => subject.service.call({ ...call, endpoint })))
  const readingsOf = (answers: readonly Answer[]) => answers.map(({ exact }) => asOfAside(exact))
  for (let attempt = 0, before = await askAlone(); attempt < attempts; attempt++) {
    const batch = await subject.service.batch(endpoint, calls)
    const different = differenceOf(asOfAside(batch.exact), readingsOf(before))
    if (different === undefined) return
    const after = await askAlone()
    if (differenceOf(readingsOf(before), readingsOf(after)) === undefined) {
      throw new Broken(`${different} when asked alone`, ...evidence(batch, before, different))
    }
    before = after
  }
  throw new NotShown(`the answers changed ${attempts} times`)
}

/** The batch, and the single answer that differs from its entry. */
function evidence(batch: Answer, single: readonly Answer[], different: string) {
  const at = Number(/^\/(\d+)/.exec(different)?.[1] ?? 0)
  return [batch, single[at]].flatMap(answer => (answer === undefined ? [] : [answer.exchange]))
}

/** Without the block or slot of the reads, which moves on between two calls. */
function asOfAside(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer ?? null, (key, value: unknown) => (key === 'asOf' ? undefined : value))
  )
}

/** Ids, chains, credentials, pages and batches, as far as they need a chain's answer. */
export const envelopeChecks: readonly Check[] = [
  {
    name: 'envelope/success',
    shows: 'A result comes alone, with the id of its request, and with chainId on /solana only.',
    where: '#/components/schemas/RpcSuccess',
    endpoints: [],
    run: checkSuccesses
  },
  {
    name: 'envelope/unserved-chain',
    shows: 'A chain that is not served, or is one of the other endpoint, is refused with those that are.',
    where: '#/x-errors/UNSUPPORTED_CHAIN',
    endpoints: [],
    run: checkUnserved
  },
  {
    name: 'envelope/wrong-key',
    shows: 'A wrong key and an unknown project are answered alike, with the challenge.',
    where: '#/x-errors/UNAUTHENTICATED',
    endpoints: [],
    run: checkWrongKeys
  },
  {
    name: 'envelope/pages',
    shows: 'A web page may send what a call needs, and read every answer and its headers.',
    where: '#/x-envelope/http/exposedHeaders',
    endpoints: [],
    extension: 'CORS',
    run: checkPages
  },
  {
    name: 'envelope/batch-parts',
    shows: 'Each part of a batch is what the same call gives alone.',
    where: '#/x-envelope/batchRules',
    endpoints: [],
    extension: 'batches',
    run: checkBatches
  }
]

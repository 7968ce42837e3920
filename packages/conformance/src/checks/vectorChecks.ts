import { type MethodName, methodFacts, wireName } from '@chain-data/protocol'
import { openRpcDocument } from '@chain-data/protocol/document'
import { checkFailure } from '@chain-data/protocol/validators'
import { vectorFiles } from '../generated/vectors.gen.ts'
import { type Extension, extensions } from '../survey/extensions.ts'
import type { Subject } from '../survey/Subject.ts'
import { parseVector, type Vector } from '../vectors/parseVector.ts'
import { endpointOf, placeVector } from '../vectors/placeVector.ts'
import type { Exchange } from '../wire/Exchange.ts'
import { parseExact } from '../wire/parseExact.ts'
import type { Check } from './Check.ts'
import { differenceOf } from './differenceOf.ts'
import { Broken, holds, NotShown } from './verdicts.ts'

/** What the folders are about that are no methods. */
const placesOfFolders: Readonly<Record<string, string>> = {
  id: '#/x-envelope/id',
  envelope: '#/x-envelope/request',
  chain: '#/x-envelope/chainId',
  body: '#/x-envelope/http',
  batch: '#/x-envelope/batchRules',
  transport: '#/x-envelope/http'
}

/** One check for each vector of the specification. */
export const vectorChecks: readonly Check[] = Object.entries(vectorFiles)
  .map(([name, text]) => parseVector(name, text))
  .map(vector => ({
    name: `vectors/${vector.name}`,
    shows: vector.shows,
    where: whereOf(folderOf(vector)),
    endpoints: [endpointOf(vector)],
    ...extensionOf(vector),
    run: subject => runVector(vector, subject)
  }))

function folderOf({ name }: Vector): string {
  return name.slice(0, name.indexOf('/'))
}

function whereOf(folder: string): string {
  const wire = Object.hasOwn(methodFacts, folder) ? wireName(folder as MethodName) : folder
  const at = openRpcDocument.methods.findIndex(({ name }) => name === wire)
  return at < 0 ? (placesOfFolders[folder] ?? '#') : `#/methods/${at}`
}

function extensionOf(vector: Vector): { extension?: Extension } {
  const folder = folderOf(vector)
  const name = vector.extension ?? folder
  const known = extensions.find(extension => extension === name)
  if (vector.extension !== undefined && known === undefined)
    throw new Error(`${vector.name}: no such extension`)
  const isDocumented = vector.extension === undefined && !(Object.hasOwn(methodFacts, folder) && known)
  return known === undefined || isDocumented ? {} : { extension: known }
}

async function runVector(vector: Vector, subject: Subject): Promise<void> {
  const chainId = await subject.chainOf(endpointOf(vector))
  if (chainId === undefined) throw new NotShown('no chain is served on this endpoint')
  const placed = placeVector(vector, { methodPrefix: subject.service.methodPrefix, chainId })
  const { verb, target, requestHeaders: headers, body } = placed
  const exchange = await subject.service.exchange({
    verb,
    target,
    headers,
    ...(body === undefined ? {} : { body })
  })
  checkHead(placed, exchange)
  checkBody(placed, exchange)
}

function checkHead({ status, answerHeaders }: Vector, exchange: Exchange): void {
  const { received } = exchange
  holds(received.status === status, () => `HTTP ${received.status}, not ${status}`, exchange)
  for (const [name, value] of Object.entries(answerHeaders)) {
    const got = received.headers[name]
    holds(got === value, () => `${name} is ${JSON.stringify(got)}, not ${JSON.stringify(value)}`, exchange)
  }
}

function checkBody({ answer }: Vector, exchange: Exchange): void {
  const { text } = exchange.received
  if (answer === undefined) {
    holds(text === '', () => 'there is a body', exchange)
    return
  }
  const got = readJson(text, exchange)
  const different = differenceOf(withoutWords(got), withoutWords(parseExact(answer)))
  holds(different === undefined, () => String(different), exchange)
  for (const entry of Array.isArray(got) ? got : [got]) {
    const mistake = checkFailure(JSON.parse(JSON.stringify(entry)))
    holds(mistake === undefined, () => `${mistake?.path} ${mistake?.message}`, exchange)
  }
}

function readJson(text: string, exchange: Exchange): unknown {
  try {
    return parseExact(text)
  } catch {
    throw new Broken('the answer is no JSON', exchange)
  }
}

/** `extraMessage` is wording for people: everything else is the contract. */
function withoutWords(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutWords)
  const { error } = (answer ?? {}) as { error?: { data?: object } }
  if (typeof error?.data !== 'object') return answer
  return { ...(answer as object), error: { ...error, data: { ...error.data, extraMessage: '' } } }
}

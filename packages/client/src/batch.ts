import type { Batching, Call } from './Call.ts'
import type { Settled } from './Client.ts'
import type { CallOptions } from './ClientOptions.ts'
import { type CallObject, type Core, needObject } from './connect.ts'
import { type ChainDataClientError, need } from './errors.ts'
import { methods } from './generated/methods.gen.ts'
import { type WireCallObject, wireMethod } from './request.ts'

/** Maximum number of calls in one POST; the document's limit `batchRequests`. */
export const largestBatch = 100

const batching: Batching = {
  write: bodies => `[${bodies}]`,
  find(answers, id, check) {
    // One answer speaks of the request as a whole.
    if (!Array.isArray(answers)) return answers
    const entries = answers.filter(entry => entry?.id === id)
    check(entries.length, 'MISSING_ENTRY')
    check(entries.length < 2, 'DUPLICATE_ENTRY')
    return entries[0]
  }
}

/** Sends several calls in few requests. Each has its own outcome. */
export async function batch(
  core: Core,
  calls: readonly (CallObject & { readonly method: string })[],
  options: CallOptions = {}
): Promise<Settled<unknown>[]> {
  need(Array.isArray(calls), `takes a list; got ${calls}`, 'INVALID_ARGUMENT', 'batch')
  const entries = calls.map((call): Partial<Call> => {
    try {
      return writeEntry(core, call)
    } catch (error) {
      // Writing throws nothing else.
      return { error: error as ChainDataClientError }
    }
  })
  const posts: Promise<void>[] = []
  for (const path of new Set(entries.map(({ endpoint }) => endpoint))) {
    const there = entries.filter(({ endpoint }) => path && endpoint === path) as Call[]
    while (there.length) posts.push(core.send(there.splice(0, largestBatch), options, batching))
  }
  await Promise.all(posts)
  return entries.map(({ error, value }) =>
    error ? { status: 'rejected', reason: error } : { status: 'fulfilled', value }
  )
}

function writeEntry(core: Core, call: CallObject & { readonly method: string }): Call {
  needObject('batch', call)
  const method = methods.find(({ name }) => name === call.method)
  return method && !('params' in call)
    ? core.write(method, call)
    : core.write(wireMethod(call as WireCallObject), call, (call as WireCallObject).params)
}

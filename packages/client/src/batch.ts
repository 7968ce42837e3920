import type { Settled } from './Client.ts'
import type { CallOptions } from './ClientOptions.ts'
import type { Core } from './connect.ts'
import { need } from './errors.ts'
import { methods } from './generated/methods.gen.ts'
import { readNumber } from './readOptions.ts'
import { type WireCallObject, wireMethod } from './request.ts'
import { type CallObject, needObject, type Sending } from './sendCall.ts'

/** Maximum number of calls in one POST; the document's limit `batchRequests`. */
export const largestBatch = 100

const name = 'batch'

/** A call that has come to the next step, such as being sent, and waits for the others of its endpoint. */
interface Ready {
  readonly body: string
  /** Takes the step for calls with these bodies. */
  readonly step: (bodies: readonly string[]) => unknown
  readonly resolve: (done: never) => void
}

/** Sends several calls in few requests. Each has its own outcome. */
export async function batch(
  { send }: Core,
  calls: readonly (CallObject & { readonly method: string })[],
  { signal, timeoutMs, retries }: CallOptions = {}
): Promise<Settled<unknown>[]> {
  need(Array.isArray(calls), `takes a list; got ${calls}`, 'INVALID_ARGUMENT', name)
  const options = { signal, timeoutMs, retries, onAnswer: undefined }
  readNumber('timeoutMs', 1, undefined, options, name)
  readNumber('retries', 0, undefined, options, name)
  /** By endpoint: how many calls have no outcome yet, and those that are ready. Once all are, their step is taken. */
  const groups: Record<string, { open: number; readonly ready: Ready[] }> = {}

  const takeSteps = () => {
    for (const { open, ready } of Object.values(groups)) {
      if (ready.length < open) continue
      while (ready.length) {
        const taking = ready.splice(0, largestBatch)
        const done = taking[0]?.step(taking.map(({ body }) => body))
        for (const { resolve } of taking) resolve(done as never)
      }
    }
  }

  const sendTogether = async (call: CallObject & { readonly method: string }) => {
    needObject(name, call)
    const known = !('params' in call) && methods.find(method => method.name === call.method)
    const method = known || wireMethod(call as WireCallObject)
    const { endpoint = method.endpoints[0] } = call
    let group: (typeof groups)[string] | undefined
    const together = <T>(step: (bodies: readonly string[]) => T | Promise<T>, body = '') =>
      new Promise<T>(resolve => {
        if (!group) {
          group = groups[`${endpoint}`] ??= { open: 0, ready: [] }
          group.open++
        }
        group.ready.push({ body, step, resolve })
        // All calls of a batch come to their first step in one turn.
        void Promise.resolve().then(takeSteps)
      })
    const adapt = ({ sign, transport, ...sending }: Sending): Sending => ({
      ...sending,
      find: findEntry,
      sign: name => together(() => sign(name)),
      transport: (url, request, maxBytes) =>
        together(bodies => transport(url, { ...request, body: `[${bodies}]` }, maxBytes), request.body)
    })
    try {
      return await send(method, { ...call, ...options }, (call as Partial<WireCallObject>).params, adapt)
    } finally {
      if (group) group.open--
      takeSteps()
    }
  }
  return Promise.allSettled(calls.map(sendTogether)) as Promise<Settled<unknown>[]>
}

const findEntry: NonNullable<Sending['find']> = (answers, id, check) => {
  // One answer speaks of the request as a whole.
  if (!Array.isArray(answers)) return answers
  const entries = answers.filter(entry => entry?.id === id)
  check(entries.length, 'MISSING_ENTRY')
  check(entries.length < 2, 'DUPLICATE_ENTRY')
  return entries[0]
}

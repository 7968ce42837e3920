import { expect } from 'vitest'
import type { Listener, ListenOptions } from '../../src/server/http/listen.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { digestKey, formatKeyDigest } from '../../src/server/projects/keyDigest.ts'
import {
  authorization,
  projects,
  type ServiceChanges,
  type StartedService,
  startService
} from '../http/startService.ts'
import { call } from './AbuseCase.ts'
import { checkAnswer, checkLeaks } from './checkAnswer.ts'
import { converse } from './converse.ts'
import { requestBytes } from './wire.ts'

/** Severity in the lines of the log. */
const warn = 40

const covers = { transfers: false, internal: false, operations: false, pool: false }

/** A service to be abused, and what must hold after each abuse. */
export interface AbusedService {
  readonly service: StartedService
  readonly listener: Listener
  readonly port: number
  /** Calls of the method that every case calls, since the last look. */
  takeCalls(): number
  /** An honest call is answered, and `checkLeftovers`. */
  checkAfter(received: string): Promise<void>
  /** Nothing has leaked, and nothing is left open. @param received - all that came from the server. */
  checkLeftovers(received: string): Promise<void>
  close(): Promise<void>
}

/** The key is configured as a digest, so that there is one to leak. */
export async function startAbused(
  changes: ServiceChanges = {},
  options: Partial<Omit<ListenOptions, 'handler'>> = {}
): Promise<AbusedService> {
  let calls = 0
  const digest = formatKeyDigest(digestKey('demo-server-key'))
  const [project] = projects
  const service = startService({
    projects: [{ ...project!, serverKey: digest }],
    ...changes,
    handlers: {
      svc_getSyncStatus: async (_params, { chainId = 0 }) => {
        calls++
        return { chainId, ready: true, phase: 'following' as const, degraded: false, covers }
      },
      svc_getTransactionsByAddress: async () => new ResultStream(emptyHistory(), async () => {}),
      ...changes.handlers
    }
  })
  const listener = await service.listen(options)
  const port = Number(new URL(listener.url).port)
  const secrets = [
    'demo-server-key',
    'demo-client-key',
    authorization.replace('Basic ', ''),
    ...digest.split(':').slice(1)
  ]
  const honest = requestBytes({ lines: ['Connection: close'], body: call({ id: '"honest"' }) })
  const socketsBefore = openSockets()

  async function checkLeftovers(received: string): Promise<void> {
    checkLeaks(received, secrets)
    const log = service.logLines.splice(0)
    checkLeaks(log.join('\n'), secrets)
    // Nobody has to be woken by what a stranger sends.
    expect(log.filter(line => JSON.parse(line).level > warn)).toEqual([])
    await expect.poll(() => service.inFlight(), { interval: 5 }).toBe(0)
    await expect.poll(openSockets, { interval: 2 }).toBe(socketsBefore)
  }

  return {
    service,
    listener,
    port,
    takeCalls() {
      const taken = calls
      calls = 0
      return taken
    },
    async checkAfter(received) {
      let { answers } = await converse(port, honest)
      // A listener whose limits are some milliseconds also times out an honest request of a busy machine.
      while (options.receiveRequestMs !== undefined && answers[0]?.status === 408)
        ({ answers } = await converse(port, honest))
      expect(answers).toHaveLength(1)
      checkAnswer(answers[0]!, { status: 200, id: '"honest"' }, honest)
      await checkLeftovers(received)
    },
    checkLeftovers,
    async close() {
      await listener.close(0)
      await service.close()
    }
  }
}

/** TCP connections of this process, of both sides. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length
}

async function* emptyHistory(): AsyncGenerator<readonly unknown[]> {}

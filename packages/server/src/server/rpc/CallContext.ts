import type { IndexDamagedError } from '@chain-data/index'
import type { AnswerCoverage } from '../../model/coverage.ts'
import type { MethodContext } from '../methods/MethodContext.ts'
import type { CallOrigin } from './envelope.ts'

/** The context of one call, with what its method reported. */
export class CallContext implements MethodContext {
  readonly chainId: number | undefined
  readonly projectId: string | undefined
  readonly cameMs: number
  readonly deadlineMs: number
  readonly lastEventId: string | undefined
  coverage: AnswerCoverage | undefined
  cursor: string | undefined
  readonly onDamage: (damage: IndexDamagedError) => void
  readonly #origin: CallOrigin
  readonly #getSignal: () => AbortSignal
  #turns = 1

  constructor(
    call: Pick<MethodContext, 'chainId' | 'lastEventId'> & {
      readonly origin: CallOrigin
      readonly deadlineMs: number
      readonly getSignal: () => AbortSignal
      readonly onDamage: (damage: IndexDamagedError) => void
    }
  ) {
    this.chainId = call.chainId
    this.projectId = call.origin.projectId
    this.cameMs = call.origin.cameMs
    this.deadlineMs = call.deadlineMs
    this.lastEventId = call.lastEventId
    this.onDamage = call.onDamage
    this.#origin = call.origin
    this.#getSignal = call.getSignal
  }

  get signal(): AbortSignal {
    return this.#getSignal()
  }

  readonly pause = () => this.#origin.nextTurn(this.#turns++)

  readonly onCoverage = (found: AnswerCoverage) => {
    this.coverage = found
  }

  readonly onCursor = (found: string) => {
    this.cursor = found
  }
}

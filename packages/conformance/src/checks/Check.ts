import type { EndpointPath } from '@chain-data/protocol'
import type { Extension } from '../survey/extensions.ts'
import type { Subject } from '../survey/Subject.ts'

/** One thing that the document says of every service. */
export interface Check {
  /** `<group>/<what>`, unique. */
  readonly name: string
  /** What holds, as a sentence. */
  readonly shows: string
  /** JSON Pointer to the part of the document that says so. */
  readonly where: string
  /** Endpoints it calls; where one serves no chain, nothing is shown. */
  readonly endpoints: readonly EndpointPath[]
  /** The part beyond the service document that it is about; absent: every service has to have it. */
  readonly extension?: Extension
  /**
   * @throws {Broken} It does not hold.
   * @throws {NotShown} Nothing is there to show it on.
   */
  run(subject: Subject): Promise<void>
}

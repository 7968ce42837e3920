import type { Exchange } from '../wire/Exchange.ts'

/** The service is not as the document says. */
export class Broken extends Error {
  override readonly name = 'Broken'
  /** What shows it, the decisive one last. */
  readonly exchanges: readonly Exchange[]

  constructor(message: string, ...exchanges: readonly Exchange[]) {
    super(message)
    this.exchanges = exchanges
  }
}

/** Nothing was there to show it on. */
export class NotShown extends Error {
  override readonly name = 'NotShown'
}

/** @throws {Broken} The condition does not hold. */
export function holds(condition: boolean, message: () => string, ...exchanges: readonly Exchange[]): void {
  if (!condition) throw new Broken(message(), ...exchanges)
}

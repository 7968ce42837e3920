import type { EndpointPath } from '@chain-data/protocol'
import type { Int64Form } from './ClientOptions.ts'

/**
 * One position of a method's params: the name of an argument, `name?` where it may be left out, `name|other` where it has two
 * names; or the names of those that are members of one object, which is left out where none is given.
 */
type Parameter = string | readonly string[]

/**
 * The description of a method; generated from the document for each method that it has. What is not in the document is
 * absent and not checked.
 */
export interface Method {
  /** As callers name it. */
  readonly name: string
  /** As the document names it, after the prefix if it has one; absent where that is `name`. */
  readonly wireName?: string
  /** Whether the host's prefix comes before the name. */
  readonly prefixed?: boolean
  /** The paths it is served on; without another wish the first is asked. */
  readonly endpoints: readonly EndpointPath[]
  /** Whether it can be called without a chain. */
  readonly chainless?: true
  /** By position. */
  readonly params?: readonly Parameter[] | undefined
  /** What its result is. */
  readonly result?: 'list' | 'object'
  /** Paths of the 64-bit members whose form `int64` decides; lists on the way are passed through. */
  readonly int64?: readonly string[]
  /** Paths of the 64-bit members that stay numbers and have exact digits beside them where they were rounded. */
  readonly rounded?: readonly string[]
  /** Names of the free texts in a result whose decimal digits become `bigint`; digits in these stay text. */
  readonly texts?: readonly string[]
  /** What to do about an error of this reason, as the end of its message. */
  readonly advice?: (reason: string | undefined) => string
  /** Gives the members above their form; here, so that a bundle has only what its methods need. */
  readonly read?: ReadIntegers
}

/** How a result is to be read. */
export interface Reading {
  /** What 64-bit integers become. */
  readonly form: Int64Form
  /** The answer that holds it, as it came. */
  readonly answer: AnswerText
  /** The result in the answer, read by another reader than `JSON.parse`. */
  readonly resultIn: (json: unknown) => unknown
  /** @throws {ProtocolError} With this reason, in the words of the call. */
  readonly fail: (reason: string) => never
}

/** The text of an answer, and what a reader of long integers made of it: once for all calls of a batch. */
export interface AnswerText {
  readonly text: string
  exact?: unknown
}

/** Gives the integers of a result their form. @param result - As `JSON.parse` reads it; may be changed in place. */
type ReadIntegers = (method: Method, result: unknown, reading: Reading) => unknown

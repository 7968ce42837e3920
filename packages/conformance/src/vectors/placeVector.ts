import { defaultMethodPrefix, type EndpointPath } from '@chain-data/protocol'
import type { Vector } from './parseVector.ts'

/** What a host has in place of what vectors are written for. */
export interface Place {
  readonly methodPrefix: string
  /** A chain of the vector's endpoint. */
  readonly chainId: number
}

/** The endpoint that a vector is sent to, as far as it is one. */
export function endpointOf({ target }: Vector): EndpointPath {
  return target.startsWith('/solana') ? '/solana' : '/evm-chain'
}

/** The chains that vectors are written for. */
const writtenFor: Readonly<Record<EndpointPath, number>> = { '/evm-chain': 31337, '/solana': 103 }

/** A vector as this host must answer it: its chains and its prefix in request and answer. */
export function placeVector(vector: Vector, { methodPrefix, chainId }: Place): Vector {
  const from = writtenFor[endpointOf(vector)]
  const place = (text: string) =>
    text
      .replace(new RegExp(`("chainId":|chainId=)${from}(?!\\d)`, 'g'), `$1${chainId}`)
      .replaceAll(`"method":"${defaultMethodPrefix}`, `"method":"${methodPrefix}`)
  const { body, answer } = vector
  return {
    ...vector,
    target: place(vector.target),
    ...(body === undefined ? {} : { body: keepLength(body, place(body.trimEnd())) }),
    ...(answer === undefined ? {} : { answer: place(answer) })
  }
}

/** What is padded to a length stays as long. */
function keepLength(before: string, after: string): string {
  return before.endsWith(' ') ? after.padEnd(before.length) : after
}

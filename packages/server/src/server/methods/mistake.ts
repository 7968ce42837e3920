import { limits } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'

/** Makes the refusal of a request, or of its params, for what is wrong at `path`. */
export function mistake(
  reason: 'INVALID_REQUEST' | 'INVALID_PARAMS',
  path: string,
  message: string
): Refusal<'INVALID_REQUEST' | 'INVALID_PARAMS'> {
  const subject = path === '' ? 'The request' : shorten(path)
  return new Refusal(reason, `${subject} ${message}.`, { path: shorten(path) })
}

/** Cuts a text of the caller's: a path may hold a member name of any length. */
export function shorten(text: string): string {
  return text.slice(0, limits.inputEchoCharacters)
}

/** Thrown where bytes are not of the plain form that is read here, or a check fails; never leaves this folder. */
const declined = new Error('the bytes are not of the plain form')

/**
 * Gives up reading: the ordinary path parses the same bytes and decides what they are.
 * @remarks One error for all, since making one for each block would cost more than reading it.
 */
export function decline(): never {
  throw declined
}

/** @returns what `read` reads; `undefined` where it declined. */
export function unlessDeclined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error === declined) return undefined
    throw error
  }
}

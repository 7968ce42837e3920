/** `application/json`, with no parameters but a UTF-8 charset. */
const jsonPattern = /^application\/json[ \t]*(;[ \t]*(charset=(utf-8|"utf-8")[ \t]*(;[ \t]*)?)?)?$/i

/** Whether a body with these headers is JSON in UTF-8, sent as it is. */
export function isJsonMediaType(
  contentType: string | undefined,
  contentEncoding: string | undefined
): boolean {
  const isPlain = contentEncoding === undefined || /^identity$/i.test(contentEncoding)
  return isPlain && contentType !== undefined && jsonPattern.test(contentType)
}

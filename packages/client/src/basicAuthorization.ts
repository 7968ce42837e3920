import { ConfigurationError } from './errors.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what RFC 7617 forbids here.
const controlCharacter = /[\u0000-\u001f\u007f]/

/**
 * The value of the `Authorization` header for HTTP Basic, in UTF-8 whatever the runtime.
 *
 * @param keyName - What the caller calls the key, for messages.
 * @throws {ConfigurationError} A part is empty, not a string, or cannot be carried by Basic. The message
 *   names the part and never shows it.
 * @see RFC 7617: no colon in the user id, no control characters, UTF-8
 */
export function basicAuthorization(projectId: string, key: string, keyName = 'serverKey'): string {
  for (const [name, value] of [
    ['projectId', projectId],
    [keyName, key]
  ] as const) {
    if (typeof value !== 'string' || value === '' || controlCharacter.test(value)) {
      throw new ConfigurationError(
        'INVALID_OPTION',
        `${name} must be a string that is not empty, without control characters`
      )
    }
  }
  if (projectId.includes(':')) {
    throw new ConfigurationError(
      'INVALID_OPTION',
      "projectId must not contain ':', which ends it in HTTP Basic"
    )
  }
  return `Basic ${btoa(utf8(`${projectId}:${key}`))}`
}

/**
 * Each byte of the UTF-8 form as one character: btoa throws beyond Latin-1 and encodes Latin-1 wrongly.
 * Done by hand, because React Native has no TextEncoder everywhere.
 */
function utf8(text: string): string {
  // Half a surrogate pair has no UTF-8 form and becomes U+FFFD, as everywhere.
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\ufffd')).replace(/%(..)/g, (_, hex) =>
    String.fromCharCode(Number(`0x${hex}`))
  )
}

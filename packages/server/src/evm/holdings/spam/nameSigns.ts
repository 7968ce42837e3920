/** Ends of host names that token names are known to advertise. `.eth` and the like are no such names. */
const endings =
  'com net org io ai app co me cc gg us to xyz fi finance exchange network info site online top club vip live pro fun ' +
  'link cash money claims claim gift gifts tech dev world life space store website win bond icu cfd cyou lol click buzz ' +
  'rest bar tk ml ga'

const ending = new RegExp(`\\.(?:${endings.replaceAll(' ', '|')})(?![\\p{L}\\p{N}-]|\\.\\p{N})`, 'gu')
const explicitUrl = /https?:|(?<![\p{L}\p{N}])(?:www\.|t\.me\/|discord\.gg\/)/u
const callToAct = /\b(?:claim(?:s|ed|ing)?|airdrops?|visit|giveaways?|vouchers?|redeem)\b/

/**
 * Whether a name holds a web address, written out or as a bare host name, also one that is slightly disguised.
 * @param seen - as `foldLookalikes` gives it.
 */
export function hasUrl(seen: string): boolean {
  const text = seen.replace(/[。｡]/g, '.').replace(/ ?[[(]\.[\])] ?/g, '.')
  if (explicitUrl.test(text)) return true
  for (const { index } of text.matchAll(ending)) if (isHostLabel(labelBefore(text, index))) return true
  return false
}

/** The text up to `end` back to the first character that no host name has. */
function labelBefore(text: string, end: number): string {
  let start = end
  while (start > 0 && /[\p{L}\p{N}-]/u.test(text.charAt(start - 1))) start--
  return text.slice(start, end)
}

/** `Mr.Me`, `D.AI` and `100.live` are rather abbreviations and numbers. */
function isHostLabel(label: string): boolean {
  return label.length > 2 && /^[a-z0-9-]+$/.test(label) && /[a-z]/.test(label)
}

/** Whether a name tells its reader to come and take something; `seen` as above. */
export function hasClaimWords(seen: string): boolean {
  return callToAct.test(seen)
}

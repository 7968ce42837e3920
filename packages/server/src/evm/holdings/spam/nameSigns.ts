import { displayText } from '../../../platform/displayText.ts'

/** Ends of host names that token names are known to advertise. `.eth` and the like are no such names. */
const endings =
  'com net org io ai app co me cc gg us to xyz fi finance exchange network info site online top club vip live pro fun ' +
  'link cash money claims claim gift gifts tech dev world life space store website win bond icu cfd cyou lol click buzz ' +
  'rest bar tk ml ga'

const ending = new RegExp(`\\.(?:${endings.replaceAll(' ', '|')})(?![\\p{L}\\p{N}-]|\\.\\p{N})`, 'gu')
const explicitUrl = /https?:|(?<![\p{L}\p{N}])(?:www\.|t\.me\/|discord\.gg\/)/u
const callToAct = /\b(?:claim(?:s|ed|ing)?|airdrops?|visit|giveaways?|vouchers?|redeem)\b/

/**
 * Checks whether a name holds a web address, written out or as a bare host name, also one that is slightly disguised.
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

/** Checks whether a name calls its reader to claim something; `seen` as above. */
export function hasClaimWords(seen: string): boolean {
  return callToAct.test(seen)
}

/** Letters that look like Latin ones in common fonts, each before the letter it looks like. */
const lookalikes = [
  // Cyrillic
  'АA ВB ЕE ЅS ІI ЈJ КK МM НH ОO РP СC ТT УY ҮY ХX ԌG ԚQ ԜW ӀI ҺH',
  'аa вb сc ԁd еe ѕs һh іi їi јj кk ӏl мm нh оo рp ԛq гr тt уy үy ѵv ѡw ԝw хx',
  // Greek
  'ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX',
  'αa οo νv ρp ιi κk υu χx τt ηn ϲc ϳj',
  // Latin letters without a dot, and small capitals
  'ıi ȷj ɑa ɡg ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz'
]

const latinOf = new Map(
  lookalikes.flatMap(line => line.split(' ')).map(pair => [pair.slice(0, 1), pair.slice(1)] as const)
)

/** As long as a name that is shown. */
const maxCharacters = 255

/**
 * A text as a hasty reader sees it: compatibility forms (full width, mathematical, circled) and Cyrillic or Greek
 * look-alikes become plain letters, what cannot be seen is taken out, all in lower case, at most 255 characters.
 *
 * @remarks Not folded, because honest names differ by just these: digits and letters (`0`/`O`, `1`/`l`), `l` and `I`,
 *   accents, currency signs (`USD₮`), and other scripts than the two.
 * @see Unicode Technical Standard 39, of which this is a small part
 */
export function foldLookalikes(text: string): string {
  // Most names are plain.
  if (/^[\x20-\x7e]*$/.test(text)) return text.slice(0, maxCharacters).trim().toLowerCase()
  const seen = displayText(text).normalize('NFKC').slice(0, maxCharacters)
  return [...seen]
    .map(letter => latinOf.get(letter) ?? letter)
    .join('')
    .trim()
    .toLowerCase()
}

/**
 * Zero-width spaces, soft hyphens, bidirectional marks and overrides, word joiners, fillers. Not among them, because
 * honest names need them: joiners (emoji, Persian, Indic scripts), variation selectors and tags (emoji), and control
 * characters (sloppy contracts end their names with zero bytes).
 */
const hidden =
  /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/

/** Checks whether a text, as its author wrote it, has invisible characters that no honest name needs. */
export function hidesCharacters(text: string): boolean {
  return hidden.test(text)
}

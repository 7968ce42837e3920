import { displayText } from '../../../platform/displayText.ts'

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

import { foldLookalikes } from './foldLookalikes.ts'

/** Ends of host names that token names are known to advertise. `.eth` and the like are no such names. */
const endings =
  'com net org io ai app co me cc gg us to xyz fi finance exchange network info site online top club vip live pro fun ' +
  'link cash money claims claim gift gifts tech dev world life space store website win bond icu cfd cyou lol click buzz ' +
  'rest bar tk ml ga'

const hostName = new RegExp(
  `(?<![\\p{L}\\p{N}])(?=[0-9-]*[a-z])[a-z0-9-]{2,63}\\.(?:${endings.replaceAll(' ', '|')})(?![\\p{L}\\p{N}-]|\\.\\p{N})`,
  'u'
)
const explicitUrl = /https?:|(?<![\p{L}\p{N}])(?:www\.|t\.me\/|discord\.gg\/)/u
const callToAct = /\b(?:claim(?:s|ed|ing)?|airdrops?|visit|giveaways?|vouchers?|redeem)\b/

/** Whether a name holds a web address, written out or as a bare host name, also one that is slightly disguised. */
export function hasUrl(name: string): boolean {
  const text = foldLookalikes(name)
    .replace(/[。｡]/g, '.')
    .replace(/\s*[[(]\.[\])]\s*/g, '.')
  return explicitUrl.test(text) || hostName.test(text)
}

/** Whether a name tells its reader to come and take something. */
export function hasClaimWords(name: string): boolean {
  return callToAct.test(foldLookalikes(name))
}

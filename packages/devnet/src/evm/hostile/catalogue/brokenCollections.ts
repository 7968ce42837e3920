import {
  type HostileNftTruth,
  type HostileOutcome,
  type HostileToken,
  leftOut,
  listedNfts,
  listedToken,
  unreadable
} from '../HostileToken.ts'
import {
  bytes,
  dirtyAddress,
  empty,
  invalid,
  longText,
  loops,
  loopsDearly,
  reverts,
  type ScriptedAnswer,
  text,
  word,
  zeros
} from '../scriptedToken.ts'
import { plainNft, plainToken, scriptedErc20, scriptedErc721, scriptedId } from './scriptedEntries.ts'

const ownerUnreadable = unreadable('OWNER_UNREADABLE', scriptedId)
const collectionName = 'Scripted Collection'

/** Listed without its metadata. */
const bare: HostileNftTruth = { ...plainNft, name: collectionName, data: {} }

function without(reason: string, nft: HostileNftTruth): HostileOutcome {
  return { nfts: [nft], incomplete: [{ tokenId: scriptedId, reason }] }
}

const uriUnreadable = without('TOKEN_URI_UNREADABLE', { ...bare, tokenUri: '' })

/** A collection that is sound but for its URI, which leads nowhere that a service would go. */
function misleading(key: string, about: string, tokenUri: string): HostileToken {
  return scriptedErc721(
    { key, about },
    () => ({ tokenURI: text(tokenUri) }),
    without('METADATA_UNAVAILABLE', { ...bare, tokenUri })
  )
}

function ownerAnswers(key: string, about: string, ownerOf: ScriptedAnswer): HostileToken {
  return scriptedErc721({ key, about }, () => ({ ownerOf }), ownerUnreadable)
}

function uriAnswers(key: string, about: string, tokenURI: ScriptedAnswer): HostileToken {
  return scriptedErc721({ key, about }, () => ({ tokenURI }), uriUnreadable)
}

const hostileName = '\u202e<b>Free\u200b Mint</b>'
const hostileData = { name: hostileName, image: 'javascript:alert(1)', description: '</script>' }
const hostileJson = `data:application/json,${encodeURIComponent(JSON.stringify(hostileData))}`

/** Collections whose owners, interfaces or URIs cannot be read, or lead astray. */
export const brokenCollections: readonly HostileToken[] = [
  ownerAnswers('owner-loops', 'ownerOf never ends', loops),
  ownerAnswers('owner-invalid', 'ownerOf runs into an invalid instruction', invalid),
  ownerAnswers('owner-short', 'ownerOf answers 31 bytes', bytes(`0x${'00'.repeat(31)}`)),
  ownerAnswers('owner-megabyte', 'ownerOf answers a megabyte', zeros(1_000_000)),
  scriptedErc721(
    { key: 'owner-dirty', about: 'ownerOf has a bit set above the address' },
    holder => ({ ownerOf: dirtyAddress(holder) }),
    ownerUnreadable
  ),
  scriptedErc721(
    { key: 'owner-reverts', about: 'logged a mint; ownerOf says that there is no such token' },
    () => ({ ownerOf: reverts }),
    leftOut
  ),
  scriptedErc721(
    { key: 'owner-empty', about: 'ownerOf answers nothing, ERC-165 says that it is a collection' },
    () => ({ ownerOf: empty, supportsInterface: word(1n) }),
    ownerUnreadable
  ),
  scriptedErc721(
    { key: 'interface-dirty', about: 'ownerOf answers nothing, and ERC-165 a truth value of 2' },
    () => ({ ownerOf: empty, supportsInterface: word(2n) }),
    leftOut
  ),
  scriptedErc20(
    { key: 'interface-all', about: 'a fungible token that says yes to every interface' },
    { supportsInterface: word(1n) },
    listedToken(plainToken)
  ),
  scriptedErc721(
    { key: 'interface-all-collection', about: 'a collection that says yes to every interface' },
    () => ({ supportsInterface: word(1n) }),
    listedNfts(plainNft)
  ),
  uriAnswers('uri-loops', 'tokenURI never ends', loopsDearly),
  uriAnswers('uri-loops-slowly', 'tokenURI never ends, and takes as much time as its gas allows', loops),
  uriAnswers('uri-megabyte', 'tokenURI is a megabyte', longText(1_000_000)),
  uriAnswers('uri-malformed', 'tokenURI is no string', zeros(96)),
  scriptedErc721(
    { key: 'uri-refused', about: 'has no tokenURI' },
    () => ({ tokenURI: undefined }),
    listedNfts({ ...bare, tokenUri: '' })
  ),
  misleading('uri-metadata-service', 'leads into the network of the host', 'http://169.254.169.254/latest/'),
  misleading('uri-loopback', 'leads to the machine of the service', 'http://127.0.0.1:1/1.json'),
  misleading('uri-script', 'has a script for a URI', 'javascript:alert(document.cookie)'),
  misleading('uri-file', 'leads to a file of the host', 'file:///etc/passwd'),
  misleading('uri-no-json', 'leads to text that is no JSON', 'data:text/html,<script>alert(1)</script>'),
  scriptedErc721(
    { key: 'metadata-hostile', about: 'has a script for a picture, and hidden characters in its name' },
    () => ({ tokenURI: text(hostileJson) }),
    listedNfts({ ...plainNft, tokenUri: hostileJson, name: '<b>Free Mint</b>', data: hostileData })
  )
]

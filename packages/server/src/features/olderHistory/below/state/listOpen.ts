import type { BlockEffect } from './explainBlock.ts'
import type { OpenNoncePart, OwnPart, Part, Stretch } from './walkDown.ts'

/** What decides how far down an account's past is searched. */
export interface SearchState {
  /** About how many records are searched for. */
  readonly wanted: number
  /** The account is known to have a key. */
  readonly hasKey: boolean
  /** The blocks that were read. */
  readonly effects: ReadonlyMap<number, BlockEffect>
  /** Reports whether the block of a nonce can be asked for, and was not yet. */
  mayLookUp(nonce: bigint): boolean
}

/** Blocks after `low`, up to `high`, of which some have to be found. */
export interface OpenStretch extends Stretch {
  /** What is read in it. */
  readonly kind: 'nonce' | 'balance'
  /** How many records are expected in it. */
  readonly expected: number
  /** Its older part was cut off: what is read at `low` tells whether that has to be searched, too. */
  readonly isCut: boolean
}

/** Records are not evenly spread: so many times the stretch is searched that would have the wanted ones if they were. */
const slack = 1.5
/** Shorter stretches are searched as a whole. */
const minCut = 64
/** So many of the records that are expected in a stretch are counted upon: they may all be in its oldest part. */
const countedShare = 0.5

/** Lists what is open in an account's past, newest first, until the wanted records are found. */
export function listOpen(parts: Iterable<Part>, state: SearchState) {
  const { wanted, hasKey, effects } = state
  const stretches: OpenStretch[] = []
  /** Blocks to read. */
  const blocks: number[] = []
  /** Nonces whose blocks can be asked for. */
  const nonces: bigint[] = []
  /** Heights whose balance is needed once everything is located. */
  const ends: number[] = []
  /** Heights whose nonce shows that nothing is left out above. */
  const sides: number[] = []
  let count = 0
  /** Records of blocks that are believed once what is below them is known. */
  let waiting = 0
  let isKeyShown = hasKey
  let lastOwn: OwnPart | undefined

  function expect(records: number): void {
    count += waiting + records
    waiting = 0
  }

  function addStretch(kind: OpenStretch['kind'], stretch: Stretch, expected: number): void {
    stretches.push(topOf({ ...stretch, kind, expected, isCut: false }, Math.max(1, wanted - count)))
    expect(Math.max(1, expected * countedShare))
  }

  /** @returns the block's records, or as many as are expected while it was not read. */
  function addBlock(height: number, expected = 1): number {
    const effect = effects.get(height)
    if (effect === undefined) blocks.push(height)
    // Before a key is shown nothing is believed, so that nothing is gained by a search for more.
    return Math.max(effect?.records.length ?? expected, hasKey ? 0 : 1)
  }

  function addChange(change: Stretch, expected: number): void {
    if (isOneBlock(change)) expect(addBlock(change.high))
    else addStretch('balance', change, expected)
  }

  function addOpenNonce({ low, high, changes = [] }: OpenNoncePart): void {
    const stretch = { low: low.height, high: high.height }
    const hidden = Number(high.value - low.value)
    const asked = noncesDown(low.value, high.value, wanted - count).filter(state.mayLookUp)
    nonces.push(...asked)
    if (asked.length > 0) expect(hidden)
    else if (changes.every(change => isOneBlock(change) && effects.has(change.high)))
      addStretch('nonce', stretch, hidden)
    else {
      for (const change of changes) {
        if (count >= wanted) break
        addChange(change, Math.max(1, hidden / changes.length))
        // Where enough is found the nonce has to show that nothing is left out down to there.
        if (count >= wanted && isOneBlock(change)) sides.push(change.low)
      }
      // Payments alone show no key.
      const isKeyMissed = effects.size > 0 && [...effects.values()].every(each => each.nonces.length === 0)
      if (!isKeyShown && isKeyMissed) stretches.push({ ...stretch, kind: 'nonce', expected: 1, isCut: false })
    }
    isKeyShown = true
  }

  for (const part of parts) {
    if (part.kind === 'falling' || (count >= wanted && isKeyShown)) break
    if (part.kind === 'bottom') expect(0)
    else if (part.kind === 'openNonce') addOpenNonce(part)
    else if (part.kind === 'own') {
      lastOwn = part
      isKeyShown = true
      const records = addBlock(part.height, Number(part.end - part.first))
      if (effects.has(part.height) && part.isUneven === undefined) waiting += records
      else expect(records)
    } else if (part.kind === 'ends') ends.push(...part.heights)
    else if (count >= wanted) continue
    else if (part.kind === 'openBalance') addStretch('balance', part, 1)
    else expect(addBlock(part.height))
  }
  // Where the last of them is being read, what was paid down to there is asked about in the same exchange.
  if (blocks.length > 0 && lastOwn !== undefined) ends.push(lastOwn.quietTo)
  return { stretches, blocks, nonces, ends, sides }
}

const isOneBlock = ({ low, high }: Stretch) => high - low === 1

/** Returns the newest part of a stretch, which has the wanted records, about. */
function topOf(stretch: OpenStretch, wanted: number): OpenStretch {
  const { low, high, expected } = stretch
  const share = (slack * wanted) / expected
  if (share >= 1 || high - low < minCut) return stretch
  return { ...stretch, low: high - Math.ceil((high - low) * share), expected: slack * wanted, isCut: true }
}

function noncesDown(low: bigint, high: bigint, atMost: number): readonly bigint[] {
  const length = Math.max(0, Math.min(Number(high - low), atMost))
  return Array.from({ length }, (_, position) => high - 1n - BigInt(position))
}

/** A monotone map from the heights of a recorded chain to those of a longer one. */
export interface Stretch {
  readonly head: number
  /** Height in the longer chain. */
  up(recorded: number): number
  /** The newest recorded block that is not above a height of the longer chain. */
  down(height: number): number
}

/**
 * Stretches a chain: its newest blocks stay next to each other, so that an index may begin there; the gaps between the
 * others grow.
 */
export function stretchTo(recordedHead: number, head: number, newest = 200): Stretch {
  const bend = Math.max(1, recordedHead - newest)
  const factor = (head - (recordedHead - bend)) / bend
  const up = (recorded: number) =>
    recorded >= bend ? head - (recordedHead - recorded) : Math.floor(recorded * factor)
  return {
    head,
    up,
    down(height) {
      let recorded =
        height >= up(bend) ? recordedHead - (head - height) : Math.min(bend - 1, Math.ceil(height / factor))
      while (up(recorded) > height) recorded--
      while (recorded < bend - 1 && up(recorded + 1) <= height) recorded++
      return recorded
    }
  }
}

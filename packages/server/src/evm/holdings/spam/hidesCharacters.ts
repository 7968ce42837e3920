/**
 * Zero-width spaces, soft hyphens, bidirectional marks and overrides, word joiners, fillers. Not among them, because
 * honest names need them: joiners (emoji, Persian, Indic scripts), variation selectors and tags (emoji), and control
 * characters (sloppy contracts end their names with zero bytes).
 */
const hidden =
  /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]/

/** Whether a text as its author wrote it holds characters that nobody sees and no honest name needs. */
export function hidesCharacters(text: string): boolean {
  return hidden.test(text)
}

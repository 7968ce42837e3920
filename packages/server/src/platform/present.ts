/** An object whose unknown members are absent rather than `undefined`. */
export type Present<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> }

/** @returns the members that are known. */
export function present<T extends object>(members: T): Present<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<T>
}

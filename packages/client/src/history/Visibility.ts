/** Whether somebody sees the list. In React Native, `AppState` gives both. */
export interface Visibility {
  /** Returns whether the list is seen now. */
  isVisible(): boolean
  /**
   * Calls the listener after each change of `isVisible`.
   *
   * @returns a function that removes the listener.
   */
  subscribe(listener: () => void): () => void
}

interface PageLike {
  readonly visibilityState?: string
  addEventListener(type: string, listener: () => void): void
  removeEventListener(type: string, listener: () => void): void
}

/** The visibility of the page; always visible where there is none. */
export const pageVisibility: Visibility = {
  isVisible: () => pageOf()?.visibilityState !== 'hidden',
  subscribe(listener) {
    const page = pageOf()
    page?.addEventListener('visibilitychange', listener)
    return () => page?.removeEventListener('visibilitychange', listener)
  }
}

function pageOf(): PageLike | undefined {
  const { document } = globalThis as { document?: PageLike }
  // React Native on the web and some tests define a `document` without events.
  return document?.visibilityState === undefined ? undefined : document
}

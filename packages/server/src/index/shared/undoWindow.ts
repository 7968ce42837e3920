/** How many blocks keep what a rollback needs. */
export interface UndoLayout {
  /** Undo data of so many newest blocks are kept, even when they have become final. */
  readonly minUndoBlocks: number
  /** Undo data of more blocks are never kept: a deeper rollback scans instead. */
  readonly maxUndoBlocks: number
}

/** Newest block whose undo data nobody needs any more; negative when there is none. */
export function newestDroppableUndo(head: number, finalized: number | undefined, layout: UndoLayout): number {
  const needless = Math.min(finalized ?? -1, head - layout.minUndoBlocks)
  return Math.max(needless, head - layout.maxUndoBlocks)
}

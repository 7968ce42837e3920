/**
 * How long one call may still wait for metadata, in milliseconds. Where nodes were slow, documents are done without rather
 * than waited for until the whole call has failed.
 *
 * @param metadataWaitMs - the longest wait of any call.
 * @param deadlineMs - `Date.now()` by which the call must be answered.
 */
export function metadataBudget(metadataWaitMs: number, deadlineMs: number): number {
  return Math.min(metadataWaitMs, Math.max(0, (deadlineMs - Date.now()) / 2))
}

/** Called once when a server starts, not by `next build`: indexing begins here and not at the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { chainData } = await import('./chainData.ts')
  await chainData()
}

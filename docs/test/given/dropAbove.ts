/** Forgets what a program keeps of later blocks. */
export function dropAbove(block: { readonly blockNumber: number }): void {
  process.stdout.write(`down to block ${block.blockNumber}\n`)
}

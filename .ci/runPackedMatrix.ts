import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { startMatrixServer } from '../packages/client/test/matrix/startMatrixServer.ts'

const program = fileURLToPath(new URL('../packages/client/test/runtimes/matrixProgram.ts', import.meta.url))

/**
 * Runs the client's behaviour matrix with every entry of the packed client of a project.
 *
 * @param project - A folder with the packed client installed.
 * @param command - The runtime, and what it takes before the program.
 * @returns How many scenarios held.
 * @throws One did not; the message names it.
 */
export async function runPackedMatrix(
  project: string,
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv
): Promise<number> {
  await build({
    stdin: {
      contents: `
        import { doors, runMatrix, scenariosOf } from ${JSON.stringify(program)}
        const serverUrl = process.argv.at(-1)
        let held = 0
        for (const [entry, door] of Object.entries(doors)) {
          const runs = scenariosOf(door).map(async ({ title }) => {
            const wrong = await runMatrix(entry, title, serverUrl)
            if (wrong !== '') throw new Error(title + ', ' + entry + ': ' + wrong)
            held++
          })
          await Promise.all(runs)
        }
        console.log(held)
        // Deno would wait for connections that are kept.
        process.exit()`,
      resolveDir: project
    },
    outfile: join(project, 'matrix.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['@chain-data/*'],
    logLevel: 'silent'
  })
  await using server = await startMatrixServer()
  const [runtime, ...before] = command
  const child = spawn(runtime, [...before, 'matrix.mjs', server.url], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let held = ''
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    held += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  const code = await new Promise(resolve => child.once('close', resolve))
  if (code !== 0) throw new Error(`the behaviour matrix does not hold on ${runtime}:\n${printed}`)
  return Number(held)
}

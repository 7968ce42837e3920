import type { Command } from 'commander'
import { usualConfigFile } from '../config/config.ts'
import { readDuration, readLifetime, readName, readOrigins, readProjectId } from './options.ts'
import { createProject, listProjects, revokeProjectKey, rotateProjectKey } from './projectActions.ts'
import { reporting } from './reporting.ts'

const projectExits =
  'Exit code: 0 when it is done, 1 when it cannot be done, 2 for a wrong configuration or projects file.'

/** Adds `chain-data project create|list|rotate|revoke`. */
export function addProjectCommands(program: Command): void {
  const project = program.command('project').description('manage the projects that may call, and their keys')

  const subcommand = (name: string, description: string, example: string) =>
    project
      .command(name)
      .description(description)
      .option(
        '-c, --config <file>',
        `the configuration of the server, which may name a projectsFile; default: ${usualConfigFile}, where it is there`
      )
      .option('-f, --file <file>', 'the projects file, in place of the one that the configuration names')
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExample:\n  ${example}\n\n${projectExits}`)

  subcommand(
    'create',
    'make a key for a project, new or not, and print it once; keep its digest in the projects file, or print it for the configuration',
    'chain-data project create shop --client --origin https://shop.example --file projects.json'
  )
    .argument('<projectId>', 'user name of HTTP Basic', readProjectId)
    .option('--client', 'make a publishable key for web pages in place of a secret one for servers')
    .option('--origin <origin...>', 'origins of the pages that may use the client key', readOrigins)
    .option('--name <name>', 'what the key is called in the list', readName)
    .option('--expires <time>', 'end the key after so long, such as 90d', readLifetime)
    .action(reporting(createProject))

  subcommand(
    'list',
    'show all projects and keys, without secrets',
    'chain-data project list --file projects.json'
  ).action(reporting(listProjects))

  subcommand(
    'rotate',
    'make a new key beside an old one, which ends after the grace',
    'chain-data project rotate shop --key 1a2b3c4d --grace 7d --file projects.json'
  )
    .argument('<projectId>', 'the project', readProjectId)
    .option('-k, --key <key>', 'id or name of the old key; may be left out where only one can be meant')
    .option(
      '--grace <time>',
      'how long the old key still works, such as 30m, 24h or 7d',
      readDuration,
      86_400_000
    )
    .action(reporting(rotateProjectKey))

  subcommand(
    'revoke',
    'end a key at once, or without --key the project with all of its keys',
    'chain-data project revoke shop --key 1a2b3c4d --file projects.json'
  )
    .argument('<projectId>', 'the project', readProjectId)
    .option('-k, --key <key>', 'id or name of the key')
    .option('-y, --yes', 'also when it is the last key of the project')
    .action(reporting(revokeProjectKey))
}

import { writeProjectsFile } from '../../src/server/projects/projectsFile.ts'

// Writes the file over and over, with one project more each time; ends when it is killed.
const [file = '', digest = ''] = process.argv.slice(2)
for (let count = 1; ; count = (count % 200) + 1) {
  const projects = Array.from({ length: count }, (_, index) => ({
    projectId: `project-${index}`,
    keys: [{ kind: 'server' as const, key: digest }]
  }))
  await writeProjectsFile(file, projects)
  if (count === 1) process.stdout.write('.')
}

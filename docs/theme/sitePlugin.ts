/**
 * What TypeDoc's options cannot say: guides are called by their heading, grouped in reading order and found under the
 * path that they have here; packages are called as they are imported.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  Application,
  type Context,
  Converter,
  type DeclarationReflection,
  type DefaultThemeRenderContext,
  type DocumentReflection,
  JSX,
  KindRouter,
  ParameterType,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
  RendererEvent
} from 'typedoc'
import { buildPlayground } from '../playground/buildPlayground.ts'
import { llmsText } from './llmsText.ts'

/** The path of each guide below `docs`, or else from the top, without its ending. */
const paths = new WeakMap<Reflection, string>()

/** Pages of guides lie as in the repository: `documents/decisions/0001-….html`. */
class GuideRouter extends KindRouter {
  protected override getIdealBaseName(reflection: Reflection): string {
    const path = paths.get(reflection)
    return path === undefined ? super.getIdealBaseName(reflection) : `documents/${path}`
  }
}

/** The plugin. */
export function load(app: Application): void {
  app.options.addDeclaration({
    name: 'guideGroups',
    help: 'The first page of each group of guides, in the order of projectDocuments',
    type: ParameterType.Object,
    defaultValue: {}
  })
  app.renderer.defineRouter('guides', GuideRouter)
  let group = ''
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const path = document.name.replace(/^docs\//, '')
    paths.set(document, path)
    document.name = headingOf(document)
    const begun = Object.entries(app.options.getValue('guideGroups') as Record<string, string>)
    group = begun.find(([, first]) => first === `${path}.md`)?.[0] ?? group
    document.frontmatter.group = group
  })
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, declaration) => {
    if (declaration.kindOf(ReflectionKind.Module)) declaration.name = importedAs(context, declaration)
  })
  app.renderer.hooks.on('sidebar.begin', context => linkTo(context, 'playground.html', 'Playground'))
  app.renderer.on(RendererEvent.END, ({ outputDirectory }) => {
    writeFileSync(join(outputDirectory, 'llms.txt'), llmsText())
  })
  app.renderer.postRenderAsyncJobs.push(({ outputDirectory }) => buildPlayground(outputDirectory))
  app.on(Application.EVENT_VALIDATE_PROJECT, project => warnOfSilentMembers(app, project))
  app.converter.on(Converter.EVENT_END, ({ project }) => callModulesPackages(project))
}

/** A link in the side bar to a page of the site that TypeDoc does not make. */
const linkTo = (context: DefaultThemeRenderContext, path: string, words: string) =>
  JSX.createElement('p', null, JSX.createElement('a', { href: context.relativeURL(path) }, words))

function headingOf(document: DocumentReflection): string {
  const text = document.content.map(part => part.text).join('')
  const heading = /^# +(.+)$/m.exec(text)?.[1]
  if (heading === undefined) throw new Error(`${document.name} needs a heading of the first rank.`)
  return heading.replaceAll('`', '')
}

/** The specifier under which a package exports the file of a module. */
function importedAs(context: Context, module: DeclarationReflection): string {
  const file = context.project.getSymbolIdFromReflection(module)?.fileName ?? ''
  let folder = dirname(file)
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const path = `./${relative(folder, file)}`
  const entry = Object.entries<Record<string, unknown> | string>(exports).find(
    ([, targets]) => typeof targets === 'object' && targets['@chain-data/source'] === path
  )
  if (entry === undefined) throw new Error(`${file} is not exported by ${name}.`)
  return `${name}${entry[0].slice(1)}`
}

function callModulesPackages(project: ProjectReflection): void {
  for (const group of project.groups ?? []) {
    if (group.title === 'Modules') group.title = 'Packages'
  }
}

/**
 * Members of interfaces and classes, too, say what the type cannot. TypeDoc's own rule for properties also asks the members
 * of every nested literal, of the configuration's inferred type and of constants, which are described as a whole; so this
 * one is narrower. Devnet's worlds are mostly named after what they hold.
 */
function warnOfSilentMembers(app: Application, project: ProjectReflection): void {
  const strict = app.options.getValue('packagesRequiringDocumentation')
  const properties = project.getReflectionsByKind(ReflectionKind.Property) as DeclarationReflection[]
  for (const property of properties) {
    const owner = property.parent
    const source = project.getSymbolIdFromReflection(property)?.packageName ?? ''
    if (!owner?.kindOf(ReflectionKind.ClassOrInterface) || property.hasComment()) continue
    if (!strict.includes(source) || source === '@chain-data/devnet') continue
    // `serverKey?: undefined` only says that alternatives exclude each other.
    if (String(property.type) === 'undefined') continue
    if (
      property.type?.type === 'reflection' &&
      property.type.declaration.signatures?.some(each => each.hasComment())
    ) {
      continue
    }
    app.logger.validationWarning(`${property.getFriendlyFullName()} does not have any documentation` as never)
  }
}

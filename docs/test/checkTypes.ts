import ts from 'typescript'
import { type PageModule, placeInModule } from './joinModules.ts'
import { type Problem, repository } from './readBlocks.ts'

/**
 * What TypeScript says of the modules of pages, in one program with the sources of the packages.
 *
 * @remarks Strict, as the packages are; only what is declared and not used is let through.
 */
export function checkTypes(modules: readonly PageModule[]): Problem[] {
  const sources = new Map(modules.map(module => [module.path, module]))
  const options = readOptions()
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile } = host
  host.fileExists = path => sources.has(path) || fileExists(path)
  host.readFile = path => sources.get(path)?.source ?? readFile(path)
  const program = ts.createProgram([...sources.keys()], options, host)
  return modules.flatMap(module => {
    const file = program.getSourceFile(module.path)
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
    return found.map(({ start = 0, messageText }) => {
      const line = ts.getLineAndCharacterOfPosition(file!, start).line + 1
      return { at: placeInModule(module, line), message: ts.flattenDiagnosticMessageText(messageText, '\n') }
    })
  })
}

function readOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${repository}/tsconfig.base.json`, ts.sys.readFile)
  const compilerOptions = {
    ...config.compilerOptions,
    lib: ['ES2024', 'DOM', 'DOM.Iterable'],
    types: ['node'],
    jsx: 'react-jsx',
    moduleDetection: 'force',
    noUnusedLocals: false,
    noUnusedParameters: false
  }
  return ts.parseJsonConfigFileContent({ compilerOptions, files: [] }, ts.sys, repository).options
}

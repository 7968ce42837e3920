// The page of playground.html: runs what is in its text area with the client, over msw in place of a server.
import * as chainData from '@chain-data/client'
import { createClient as createFetchClient } from '@chain-data/client/fetch'
import { createHandlers } from '@chain-data/client/msw'
import { getResponse } from 'msw'

const baseUrl = 'http://127.0.0.1:8080'
const handlers = createHandlers({ baseUrl })

/** Answers a request from the examples; nothing reaches the network. */
async function answer(input, init) {
  const request = new Request(input, init)
  const response = await getResponse(handlers, request)
  if (response === undefined) throw new TypeError(`Nothing answers ${request.url} here: use ${baseUrl}.`)
  return response
}

/** The client refuses server keys in a page. Here nothing is sent, so that programs for servers may be tried, too. */
const createClient = ({ serverKey, ...options }) =>
  createFetchClient({ ...(serverKey !== undefined && { clientKey: serverKey }), ...options, fetch: answer })

/** What the program may import, by specifier. */
const modules = { '@chain-data/client': { ...chainData, createClient } }

/** The program as the body of an async function: imports become constants. */
function bodyOf(program) {
  return program.replace(/^import\s+\{([^}]*)\}\s+from\s+(['"])(.+?)\2;?$/gm, (_, names, _quote, name) => {
    if (!Object.hasOwn(modules, name))
      throw new Error(`${name} cannot be imported here, only @chain-data/client.`)
    const renamed = names.replace(/\btype\s+\w+,?/g, '').replace(/\s+as\s+/g, ': ')
    return `const {${renamed}} = modules[${JSON.stringify(name)}]`
  })
}

const program = document.getElementById('program')
const output = document.getElementById('output')

const show = value => (typeof value === 'string' ? value : JSON.stringify(value, replacer, 2))
const replacer = (_, value) => (typeof value === 'bigint' ? `${value}n` : value)

const print = (...values) => {
  output.textContent += `${values.map(show).join(' ')}\n`
}

const AsyncFunction = (async () => {}).constructor

async function run() {
  output.textContent = ''
  try {
    await new AsyncFunction('modules', 'console', bodyOf(program.value))(modules, {
      log: print,
      error: print
    })
  } catch (error) {
    print(String(error))
  }
}

function reset() {
  program.value = README_PROGRAM
  output.textContent = ''
}

document.getElementById('run').addEventListener('click', run)
document.getElementById('reset').addEventListener('click', reset)
reset()

import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, loadEnv, type Plugin } from 'vite'
import { contentSecurityPolicy, developmentPolicy } from './contentSecurityPolicy.ts'
import { readSettings } from './src/settings.ts'

export default defineConfig(({ mode }) => {
  const settings = readSettings(loadEnv(mode, import.meta.dirname, 'VITE_'))
  const policy = contentSecurityPolicy(settings)
  // A page may not be framed: only a header can say that.
  const noFrames = "; frame-ancestors 'none'"
  return {
    // The built page works in any folder of any host.
    base: './',
    plugins: [react(), addPolicy(policy)],
    // In this repository the client is used as it is in its sources. With the package from npm, leave this out.
    resolve: { conditions: ['@chain-data/source', ...defaultClientConditions] },
    build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
    server: { headers: { 'Content-Security-Policy': developmentPolicy(settings) + noFrames } },
    preview: { headers: { 'Content-Security-Policy': policy + noFrames } }
  }
})

/** Writes the policy into the built page, so that it holds wherever the files are put. */
function addPolicy(policy: string): Plugin {
  return {
    name: 'content-security-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        // Before anything that it is to hold for.
        injectTo: 'head-prepend'
      }
    ]
  }
}

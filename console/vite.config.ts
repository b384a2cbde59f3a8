// SPDX-License-Identifier: Apache-2.0
// vite.config.ts - the build, and a development server that hands calls of the API to a running `falaj dev` (FALAJ_URL).
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { shellFiles } from './shellfiles.ts';
import { terminalStyles } from './terminalstyles.ts';
import { wordPacks } from './wordpacks.ts';

const target = process.env['FALAJ_URL'] ?? 'http://127.0.0.1:8080';
// The API takes changes of a session from its own origin only; behind this proxy the page has the proxy's.
const proxy = { target, changeOrigin: true, headers: { origin: new URL(target).origin } };

/** A service worker governs the addresses below its own: it stands at the root, under a name that does not change. */
const WORKER = 'shellworker.js';

export default defineConfig({
  plugins: [react(), wordPacks(), terminalStyles(), shellFiles(WORKER)],
  server: {
    proxy: {
      '/v1': proxy,
      '/v2': proxy,
      '/healthz': proxy,
      '/readyz': proxy,
      '/version': proxy,
      '/openapi.json': proxy,
    },
  },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rollupOptions: {
      input: { index: 'index.html', shellworker: 'src/shellworker.ts' },
      output: { entryFileNames: (c) => (c.name === 'shellworker' ? WORKER : 'assets/[name]-[hash].js') },
    },
  },
  // The bound ends a test that hangs: a machine may be busy, and some start other programs.
  test: { include: ['tests/**/*.test.ts'], testTimeout: 120_000 },
} as Parameters<typeof defineConfig>[0]);

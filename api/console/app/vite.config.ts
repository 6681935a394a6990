import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname ?? new URL('.', import.meta.url).pathname,
  base: '/',
  logLevel: 'warn',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: { outDir: '../dist', emptyOutDir: true, target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});

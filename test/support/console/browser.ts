import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type TestApi, testApi } from '../api/client.ts';
import type { Person } from '../databases/world.ts';
import { ROOT } from '../processes/processes.ts';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-gpu-compositing', // Debian's wrapper requests GPU compositing; when emulated, it once stopped rendering
  '--disable-software-rasterizer',
  '--disable-gpu-watchdog', // it would kill the renderer on a busy machine
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = readFileSync(path.join(ROOT, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
const COLOURS = ['color-contrast', 'link-in-text-block'];
const ARTEFACTS = path.join(ROOT, 'test', 'artefacts');

const PATIENCE_MS = 300_000; // for a busy machine; the default of the library is 30 s

/** The distribution's Chromium, closed at teardown. Without motion, because axe would judge the colours within a transition. */
export async function openBrowser(t: { teardown(after: () => unknown): void }, executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({ executablePath, args: FLAGS, timeout: PATIENCE_MS });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const newPage = context.newPage.bind(context);
    context.newPage = async () => following(await newPage());
    return context;
  };
  t.teardown(() => browser.close());
  return browser;
}

/** A page whose `goto` returns when the console follows: where only the part of the URL after # changes, the page before would still be there. */
function following(page: Page): Page {
  const goto = page.goto.bind(page);
  page.goto = async (...to) => {
    const response = await goto(...to);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    return response;
  };
  return page;
}

/** Collects errors that the page throws or logs from now on, except failed requests. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text());
  });
  return faults;
}

/** Serious and critical findings of axe on the current page, or only those of the rules that depend on colours. */
export async function findings(page: Page, colours = false): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE);
  return page.evaluate(
    async (rules) => {
      // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
      const { violations } = await (globalThis as any).axe.run(document, { resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
      return violations
        .filter(({ impact }: { impact: string }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }: { id: string; nodes: { html: string }[] }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    },
    colours ? COLOURS : null,
  );
}

/** Saves a screenshot for manual review, if SCREENSHOTS is set: encoding them takes 20 % of the time of a page. */
export async function shot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: path.join(ARTEFACTS, `${name}.png`) });
}

/** Signs in with a key, by keyboard. */
export async function signIn(page: Page, base: string, key: string): Promise<void> {
  await page.goto(`${base}/`);
  await page.focus('input[name=key]');
  await page.keyboard.type(key);
  await page.keyboard.press('Enter');
  await page.waitForSelector('h1:has-text("Transcripts")');
}

/** Whether a click on one element gives the focus to another at once: before the page receives the next key, or draws a frame. */
export function focusesAtOnce(page: Page, clicked: string, focused: string): Promise<boolean> {
  return page.evaluate(
    async ([clicked, focused]) => {
      document.querySelector<HTMLElement>(clicked!)!.click();
      for (let i = 0; i < 10; i++) await Promise.resolve(); // Preact renders in a microtask
      return document.activeElement!.matches(focused!);
    },
    [clicked, focused],
  );
}

export interface TestConsole extends TestApi {
  browser: Browser;
  workspace: string;
  /** The owner of the workspace. */
  ann: Person;
  /** Her API key with every scope. */
  key: string;
}

/** The console on an empty database, with a workspace and its owner. */
export async function openConsole(
  t: { teardown(after: () => unknown): void },
  executablePath: string,
  environment: Record<string, string> = {},
): Promise<TestConsole> {
  const api = await testApi(t, environment);
  const workspace = await api.world.workspace({ name: 'Acme' });
  const ann = await api.world.member(workspace, { role: 'owner', name: 'Ann', email: 'ann@example.com' });
  const { key } = await api.world.key(ann);
  return { ...api, workspace, ann, key, browser: await openBrowser(t, executablePath) };
}

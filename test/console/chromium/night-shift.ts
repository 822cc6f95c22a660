import { spawn } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { screenshot } from '../../harness/http/pages.ts';
import type { ServiceInstallation } from '../../harness/servers/started-service.ts';
import { printedBy } from '../../harness/servers/started-service.ts';
import { until } from '../../harness/stage.ts';
import { fasArguments } from '../../tools/run/entries.ts';
import { openSignedIn } from './browser-context.ts';

/** How a night was mended, one way: what a person does, one by one, and the seconds that the service took for it. */
export interface Way {
  readonly steps: readonly string[];
  readonly seconds: number;
}

/** Pictures of the pages for review by eye, in their order. */
let shots = 0;

/** A person at the console. What others do meanwhile, such as the bank, are no steps. */
export class AtConsole {
  readonly page: Page;
  readonly #consoleUrl: string;
  #steps: string[] = [];
  #ms = 0;

  private constructor(page: Page, consoleUrl: string) {
    this.page = page;
    this.#consoleUrl = consoleUrl;
  }

  static async signIn(browser: Browser, { consoleUrl }: ServiceInstallation, person: string): Promise<AtConsole> {
    const { page } = await openSignedIn(browser, consoleUrl, person);
    return new AtConsole(page, consoleUrl);
  }

  /** The alarm: Today, on which this is read. */
  today(text: string | RegExp): Promise<void> {
    return this.#step('open Today', async () => {
      await this.page.goto(`${this.#consoleUrl}/`);
      await this.page.getByText(text).first().waitFor();
    });
  }

  follow(link: string | RegExp): Promise<void> {
    return this.#step(`follow “${link}”`, async () => {
      await this.page.getByRole('main').getByRole('link', { name: link }).first().click();
      await this.page.waitForLoadState();
    });
  }

  section(name: string): Promise<void> {
    return this.#step(`open ${name}`, async () => {
      await this.page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true }).click();
      await this.page.waitForLoadState();
    });
  }

  search(text: string): Promise<void> {
    return this.#step('search', async () => {
      await this.page.getByRole('searchbox').fill(text);
      await this.page.getByRole('searchbox').press('Enter');
      await this.page.waitForURL('**/search?*');
    });
  }

  /** Reads a remedy's consequences, then does it; waits for what the page then says. The link may have a name of its own. */
  async remedy(
    label: string,
    { says, link = label, fill }: { says: string | RegExp; link?: string; fill?: () => Promise<unknown> },
  ): Promise<void> {
    await this.follow(link);
    await this.#step(`give the reason and ${label.toLowerCase()}`, async () => {
      await this.page.getByRole('heading', { name: 'What will happen' }).waitFor();
      await fill?.();
      await this.page.getByLabel('Reason, for the audit log').fill('the night of the test');
      await this.page.getByRole('main').getByRole('button', { name: label }).click();
      await this.page.locator('.notice').getByText(says).waitFor();
    });
  }

  /** Waits at the page, without doing anything, until it shows this: it refreshes itself. */
  sees(text: string | RegExp): Promise<void> {
    // A filter's choices are hidden.
    const seen = this.page.getByRole('main').getByText(text).and(this.page.locator(':not(option)'));
    return this.#timed(() => seen.first().waitFor());
  }

  /** What was done since the last time that this was asked. */
  way(): Way {
    const way = { steps: this.#steps, seconds: this.#ms / 1_000 };
    this.#steps = [];
    this.#ms = 0;
    return way;
  }

  #step(name: string, act: () => Promise<void>): Promise<void> {
    this.#steps.push(name);
    return this.#timed(act);
  }

  async #timed(act: () => Promise<void>): Promise<void> {
    const before = performance.now();
    // Off the rows, which hold still under a pointer.
    await act();
    await this.page.mouse.move(1, 1);
    this.#ms += performance.now() - before;
    shots += 1;
    await screenshot(this.page, `night-${shots}`);
  }
}

/** A person at a shell on the service's machine. */
export class AtShell {
  readonly #environment: NodeJS.ProcessEnv;
  #steps: string[] = [];
  #ms = 0;

  constructor({ environment }: ServiceInstallation) {
    this.#environment = environment;
  }

  /** Runs `fas` with these words; its output. An exit status of 1 says that a person must look at something. */
  fas(...words: readonly string[]): Promise<string> {
    return this.fasUntil('', ...words);
  }

  /** The same command again and again until its output has this text: one step, as waiting at a page is none. */
  async fasUntil(text: string, ...words: readonly string[]): Promise<string> {
    this.#steps.push(`fas ${words.slice(0, 2).join(' ')}`);
    const before = performance.now();
    const output = await until(
      () => this.#run(words),
      (printed) => printed.includes(text),
    );
    this.#ms += performance.now() - before;
    return output;
  }

  async #run(words: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [...fasArguments(), ...words], { env: this.#environment });
    const printed = printedBy(child);
    child.stdin.end();
    const status = await new Promise((resolve) => child.once('close', resolve));
    const output = printed.output() + printed.errors();
    // 2: the outcome is unknown, as while Temporal comes back.
    if (![0, 1, 2].includes(Number(status))) throw new Error(`fas ${words.join(' ')}: ${status} ${output}`);
    return output;
  }

  way(): Way {
    const way = { steps: this.#steps, seconds: this.#ms / 1_000 };
    this.#steps = [];
    this.#ms = 0;
    return way;
  }
}

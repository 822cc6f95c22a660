import { type Stats, statSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isCurrency, parseAmountMinor } from '../../../domain/common/money.ts';
import { type FileOutcome, fileOutcomeOf } from '../outcomes.ts';

/** A request that the server does not carry out; what the protocol says of it. */
export class NotPermitted extends Error {}

export interface Listed {
  readonly name: string;
  readonly stats: Stats;
}

/** One customer's folders, by the paths that the customer sees. Nothing outside of them has a path. */
export class CustomerFiles {
  readonly #root: string;
  readonly #opened: (bytes: Buffer) => Promise<Buffer>;

  /** `opened`: what is in a file that the customer has sealed. */
  constructor(root: string, opened: (bytes: Buffer) => Promise<Buffer>) {
    this.#root = root;
    this.#opened = opened;
  }

  /** As seen by the customer: absolute, without dots. */
  normalized(path: string): string {
    return posix.normalize(`/${path}`).replace(/(.)\/$/, '$1');
  }

  real(path: string): string {
    if (path.includes('\0')) throw new NotPermitted();
    return join(this.#root, this.normalized(path));
  }

  stat(path: string): Promise<Stats> {
    return stat(this.real(path));
  }

  async list(path: string): Promise<readonly Listed[]> {
    const names = await readdir(this.real(path));
    return names.sort().flatMap((name) => {
      const stats = statSync(join(this.real(path), name), { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ name, stats }];
    });
  }

  open(path: string, flags: string) {
    if (flags !== 'r') this.#changes(path);
    return open(this.real(path), flags);
  }

  /** As the third version of the protocol has it: what is there is not replaced. */
  async rename(from: string, to: string): Promise<void> {
    for (const path of [from, to]) this.#moves(path);
    const existing = await this.stat(to).catch(() => null);
    if (existing !== null) throw new Error('a file has this name');
    await rename(this.real(from), this.real(to));
  }

  remove(path: string): Promise<void> {
    this.#moves(path);
    return rm(this.real(path));
  }

  async makeFolder(path: string): Promise<void> {
    this.#changes(path);
    await mkdir(this.real(path));
  }

  removeFolder(path: string): Promise<void> {
    this.#changes(path);
    return rmdir(this.real(path));
  }

  /** What the amounts in a file make the server do when it gets its final name; the first such amount decides. */
  async renameOutcome(path: string): Promise<FileOutcome['rename'] | null> {
    const text = await readFile(this.real(path))
      .then(this.#opened)
      .then(String, () => '');
    for (const [, currency = '', amount = ''] of text.matchAll(/<(?:\w+:)?InstdAmt\s+Ccy="([A-Z]{3})"\s*>([\d.]+)</g)) {
      const minor = isCurrency(currency) ? parseAmountMinor(amount, currency) : null;
      const outcome = typeof minor === 'bigint' ? fileOutcomeOf(minor).rename : undefined;
      if (outcome !== undefined) return outcome;
    }
    return null;
  }

  /** The bank writes to `out` itself. */
  #changes(path: string): void {
    this.#moves(path);
    if (/^\/out(\/|$)/.test(this.normalized(path))) throw new NotPermitted();
  }

  /** The bank's own folders stay where they are. */
  #moves(path: string): void {
    if (!/^\/(in|out|archive)\/./.test(this.normalized(path))) throw new NotPermitted();
  }
}

import { mkdirSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';

/** What a customer sees: it writes to `in`, the bank to `out`; what the bank has taken stands in `archive`. */
export const FOLDERS = ['in', 'out', 'archive'] as const;
export type Folder = (typeof FOLDERS)[number];

/** The folders of all customers: a program on this machine may use them without SFTP. */
export class CustomerFolders {
  readonly root: string;
  /** For files that are not whole yet, which no customer may see. */
  readonly unfinished: string;

  constructor(directory: string) {
    this.root = join(directory, 'customers');
    this.unfinished = join(directory, 'unfinished');
    mkdirSync(this.root, { recursive: true });
    mkdirSync(this.unfinished, { recursive: true });
  }

  of(customer: string): string {
    return join(this.root, customer);
  }

  path(customer: string, folder: Folder, fileName: string): string {
    return join(this.root, customer, folder, fileName);
  }

  prepare(customer: string): void {
    for (const folder of FOLDERS) mkdirSync(join(this.of(customer), folder), { recursive: true });
  }

  /** Those with a folder, whether the bank knows them or not. */
  async customers(): Promise<readonly string[]> {
    const entries = await readdir(this.root, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** The files that a customer has finished writing, by name. */
  async waiting(customer: string): Promise<readonly string[]> {
    const entries = await readdir(join(this.of(customer), 'in'), { withFileTypes: true }).catch(absent);
    return entries
      .filter((entry) => entry.isFile() && !isTemporary(entry.name))
      .map(({ name }) => name)
      .sort();
  }

  /** Moves a taken file out of the way; one that is gone already has been. */
  async archive(customer: string, fileName: string, id: string): Promise<void> {
    const from = this.path(customer, 'in', fileName);
    await rename(from, this.path(customer, 'archive', `${id.slice(0, 8)}-${fileName}`)).catch(absent);
  }
}

/** A file under such a name is still being written. */
export function isTemporary(name: string): boolean {
  return name.startsWith('.') || /\.(part|tmp|filepart)$/i.test(name);
}

export function absent(error: unknown): [] {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
  throw error;
}

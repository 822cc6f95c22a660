import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildImage } from '../../../dev/image/image.ts';
import { ltsNode } from '../../tools/lts-node.ts';
import type { ImageFolders } from './container.ts';

export type Images = ImageFolders;

/** Tags of releases that fail; every other tag is of the image as it is. */
export const BROKEN_MIGRATION = 'broken-migration';
export const BROKEN_START = 'broken-start';

/** The image as a folder that no process may write, and two broken ones. */
export async function makeImages(folder: string): Promise<Images> {
  const node = join(folder, 'node');
  copyFileSync(await ltsNode((line) => console.log(line)), node);
  const image = join(folder, 'image');
  await buildImage(image);
  const migration = copyOf(image, join(folder, BROKEN_MIGRATION));
  writeFileSync(join(migration, 'db/migrations/9999_broken.sql'), 'SELECT 1 / 0;\n');
  const start = copyOf(image, join(folder, BROKEN_START));
  renameSync(join(start, 'dist/api.mjs'), join(start, 'dist/sound-api.mjs'));
  const program = `if (!process.argv.includes('--check')) throw new Error('broken start');\nawait import('./sound-api.mjs');\n`;
  writeFileSync(join(start, 'dist/api.mjs'), program);
  chmodSync(folder, 0o755);
  for (const made of [image, migration, start]) execFileSync('chmod', ['-R', 'a-w,a+rX', made]);
  const folderOf = (name: string) =>
    name.endsWith(`:${BROKEN_MIGRATION}`) ? migration : name.endsWith(`:${BROKEN_START}`) ? start : image;
  return { node, folderOf };
}

/** Its packages are the same files; programs find theirs from their own place. */
function copyOf(image: string, to: string): string {
  mkdirSync(to);
  for (const name of readdirSync(image)) {
    if (name === 'node_modules') symlinkSync(join(image, name), join(to, name));
    else cpSync(join(image, name), join(to, name), { recursive: true });
  }
  return to;
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** All files but those of a build, which are not ours: `dist/` is ignored by git. */
export function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder)).flatMap((entry) => {
    if (entry === 'dist') return [];
    const path = `${folder}/${entry}`;
    return statSync(join(root, path)).isDirectory() ? filesBelow(root, path) : [path];
  });
}

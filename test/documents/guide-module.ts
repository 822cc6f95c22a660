import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Block, blocksOf } from './guide-shell.ts';
import { ROOT } from './printed.ts';

const run = promisify(execFile);

/** A block in TypeScript, and what its guide shows that it prints. */
export interface ModuleBlock extends Block {
  readonly guide: string;
  readonly shown: string | null;
}

/** The TypeScript blocks of the guides, each with the `text` block after it. */
export function moduleBlocksOf(guides: readonly { readonly name: string; readonly markdown: string }[]): ModuleBlock[] {
  return guides.flatMap(({ name, markdown }) => {
    const blocks = blocksOf(markdown);
    return blocks.flatMap((block, at): ModuleBlock[] => {
      const next = blocks[at + 1];
      const shown = next?.language === 'text' ? next.text : null;
      return block.language === 'ts' ? [{ ...block, guide: name, shown }] : [];
    });
  });
}

/**
 * Compiles the blocks strictly and runs them one after another as one module, as a reader would collect them: names of earlier blocks
 * are known in later ones. Returns what each prints.
 */
export async function runModule(blocks: readonly ModuleBlock[], environment: NodeJS.ProcessEnv): Promise<string[]> {
  const end = randomUUID();
  const folder = join(ROOT, 'dist', `guides-${end}`);
  mkdirSync(folder, { recursive: true });
  try {
    const text = blocks.map((block) => `// ${block.guide}\n${block.text}console.log('${end}');\n`).join('\n');
    writeFileSync(join(folder, 'guides.ts'), text);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', include: ['guides.ts'] }),
    );
    await run(process.execPath, [join(ROOT, 'node_modules/typescript/lib/tsc.js'), '--noEmit', '-p', folder]).catch(
      fail,
    );
    const options = { cwd: ROOT, env: environment };
    const { stdout } = await run(process.execPath, ['--import', 'tsx', join(folder, 'guides.ts')], options).catch(fail);
    return stdout.split(`${end}\n`).slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fail(error: Error & { stdout?: string; stderr?: string }): never {
  throw new Error(`${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`, { cause: error });
}

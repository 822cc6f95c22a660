import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const PORTS_EACH = 1_000;

/** Picks ports in a process of its own, which runs until it is released. */
async function pickedElsewhere(): Promise<{
  readonly ports: string[];
  letGo(): void;
  end(signal: NodeJS.Signals | null): Promise<void>;
}> {
  const program = `
    import { freePort } from ${JSON.stringify(new URL('ports.ts', import.meta.url).href)};
    const ports = [];
    for (let count = 0; count < ${PORTS_EACH}; count += 1) ports.push(await freePort());
    console.log(ports.join(' '));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return {
    ports: String(line).split(' '),
    letGo: () => child.stdin.end(),
    end: async (signal) => {
      if (signal === null) child.stdin.end();
      else child.kill(signal);
      await once(child, 'exit');
    },
  };
}

test('two processes at once are never given the same port, even if nothing listens there yet', async () => {
  const picked = await Promise.all([pickedElsewhere(), pickedElsewhere()]);
  for (const { letGo } of picked) letGo();
  expect(new Set(picked.flatMap(({ ports }) => ports)).size).toBe(2 * PORTS_EACH);
});

/** How many of these have a file. */
function reservedOf(ports: readonly string[]): number {
  const names = new Set(readdirSync(join(tmpdir(), `financial-accounts-ports-${process.getuid?.() ?? 'any'}`)));
  return ports.filter((port) => names.has(port)).length;
}

test('a process gives its ports back when it ends, and the next one those of a process that was killed', async () => {
  const orderly = await pickedElsewhere();
  expect(reservedOf(orderly.ports)).toBe(PORTS_EACH);
  await orderly.end(null);
  // Another process may have been given some of them since.
  expect(reservedOf(orderly.ports)).toBeLessThan(PORTS_EACH / 2);
  const killed = await pickedElsewhere();
  await killed.end('SIGKILL');
  expect(reservedOf(killed.ports)).toBeGreaterThan(PORTS_EACH / 2);
  const next = await pickedElsewhere();
  const left = killed.ports.filter((port) => !next.ports.includes(port));
  expect(reservedOf(left)).toBeLessThan(PORTS_EACH / 2);
  await next.end(null);
});

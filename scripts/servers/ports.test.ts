import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';

const PORTS_EACH = 1_000;

/** Picks ports in a process of its own, which lives until it is let go. */
async function pickedElsewhere(): Promise<{ readonly ports: string[]; letGo(): void }> {
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
  return { ports: String(line).split(' '), letGo: () => child.stdin.end() };
}

test('two processes at once are never given the same port, even if nothing listens there yet', async () => {
  const picked = await Promise.all([pickedElsewhere(), pickedElsewhere()]);
  for (const { letGo } of picked) letGo();
  expect(new Set(picked.flatMap(({ ports }) => ports)).size).toBe(2 * PORTS_EACH);
});

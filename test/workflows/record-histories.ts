import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTemporalDevServer } from '../harness/servers/temporal.ts';
import { setStage } from '../harness/stage.ts';
import { historyToJson } from '../harness/workflows/histories.ts';
import { configFileOf, STORIES } from '../harness/workflows/stories.ts';

/**
 * `npx tsx test/workflows/record-histories.ts RELEASE [STORY…]`: runs every story, or those, on a real server and keeps its history in
 * test/histories/RELEASE. Histories of earlier releases stay, because workflows that began under them may still wait.
 */
const release = process.argv[2];
if (release === undefined || !/^[0-9a-z.-]+$/.test(release)) {
  console.error('Usage: npx tsx test/workflows/record-histories.ts RELEASE');
  process.exit(1);
}
const directory = join(import.meta.dirname, '../histories', release);
mkdirSync(directory, { recursive: true });
const temporal = await startTemporalDevServer();
try {
  const wanted = process.argv.slice(3);
  for (const [name, story] of Object.entries(STORIES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const stage = await setStage({ name: `record-${name}`, address: temporal.address, ...configFileOf(name) });
    try {
      stage.relay.start();
      stage.admissions.start();
      await stage.startWorkers().ready;
      const workflow = await story(stage);
      const history = await stage.client.workflow.getHandle(workflow).fetchHistory();
      writeFileSync(join(directory, `${name}.json`), historyToJson(history));
      console.log(`${name}: ${history.events?.length ?? 0} events`);
    } finally {
      await stage.close();
    }
  }
} finally {
  await temporal.close();
}
process.exit(0);

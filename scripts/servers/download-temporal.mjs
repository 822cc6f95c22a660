// Lets the SDK download the Temporal CLI into the folder named by the first argument. It can only be asked to start a server, so it
// starts one, on a free port, and ends it at once.
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [downloadDir] = process.argv.slice(2);
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, ttl: '3650 days' } },
  });
  await environment.teardown();
  process.exit(0);
} catch (error) {
  // The innermost cause stands last.
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message.split(': ').slice(-2).join(': ')}\n`);
  process.exit(1);
}

// Lets the SDK download the Temporal CLI into the folder named by the first argument. The SDK downloads only to start a server, so this
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
  // The innermost cause comes last.
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${message.split(': ').slice(-2).join(': ')}\n`);
  process.exit(1);
}

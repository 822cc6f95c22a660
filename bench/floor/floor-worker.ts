import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';
import { loadConfiguration } from '../../config/configuration.ts';
import { FLOOR_REMOTE_TASK_QUEUE, FLOOR_TASK_QUEUE } from './floor-steps.ts';

/** Two workers in one process with the service's pools, whose activities do nothing. */
const { pools } = loadConfiguration(process.env);
const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? '' });
const activities = { nothing: async (): Promise<void> => {} };
const workflows = await Worker.create({
  connection,
  taskQueue: FLOOR_TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('floor-workflows.ts', import.meta.url)),
  activities,
  enableNonLocalActivities: false,
  maxCachedWorkflows: pools.cachedWorkflows,
  maxConcurrentWorkflowTaskExecutions: pools.workflowTasks,
  maxConcurrentLocalActivityExecutions: pools.workflowTasks,
});
const remote = await Worker.create({
  connection,
  taskQueue: FLOOR_REMOTE_TASK_QUEUE,
  activities,
  maxConcurrentActivityTaskExecutions: pools.providerActivities,
});
console.log('floor worker ready');
await Promise.all([workflows.run(), remote.run()]);

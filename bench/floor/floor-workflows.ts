import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { FLOOR_REMOTE_TASK_QUEUE } from './floor-steps.ts';

const { nothing: nothingLocal } = proxyLocalActivities<{ nothing(): Promise<void> }>({
  startToCloseTimeout: '2 seconds',
});
const { nothing: nothingRemote } = proxyActivities<{ nothing(): Promise<void> }>({
  taskQueue: FLOOR_REMOTE_TASK_QUEUE,
  startToCloseTimeout: '30 seconds',
});

/** The steps of an external transfer's workflow, each doing nothing: decide, call the provider, record, end. */
export async function floor(): Promise<void> {
  await nothingLocal();
  await nothingRemote();
  await nothingLocal();
}

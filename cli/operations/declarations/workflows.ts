import type { Declared } from './declared.ts';

/** Of what waits in Temporal. */
export const workflows: readonly Declared[] = [
  {
    noun: 'workflows',
    name: 'restart',
    operate: ['restart-workflow'],
    summary: 'Ends the run of an open row’s workflow; a fresh one continues from the row.',
    operands: [{ name: 'WORKFLOW_ID', meaning: 'Such as outgoing-transfer/ID' }],
    options: [
      { name: 'anyway', meaning: 'Even if the run has compliance decisions that the row lacks, which are lost' },
    ],
    effect: 'dangerous',
  },
  {
    noun: 'workflows',
    name: 'restart-all',
    operate: ['restart-workflows'],
    summary:
      'After a loss of Temporal’s database: wakes the workflow of every open row, and registers search attributes and schedules.',
    effect: 'dangerous',
    isText: true,
  },
  {
    noun: 'workflows',
    name: 'parked',
    operate: ['parked'],
    summary: 'Lists the wake-ups that Temporal found invalid; --retry tries them again.',
    options: [{ name: 'retry', meaning: 'Tries them again' }],
    effect: ({ options }) => (options.retry === true ? 'dangerous' : 'reads'),
  },
  {
    noun: 'workflows',
    name: 'stuck',
    operate: ['stuck'],
    summary:
      'Lists open rows without a workflow, workflows without an open row, and tasks that no worker has begun for a minute; exits with 1 if there are any.',
    effect: 'reads',
  },
  {
    noun: 'worker-versions',
    name: 'list',
    operate: ['worker-versions', 'list'],
    summary:
      'Lists the releases whose workers Temporal knows, with their share of the tasks and whether their workers poll.',
    effect: 'reads',
  },
  {
    noun: 'worker-versions',
    name: 'set-current',
    operate: ['worker-versions', 'set-current'],
    summary:
      'Gives all tasks to the workers of a release, forwards or back, once they poll: by default of the one that this command belongs to.',
    operands: [{ name: 'BUILD_ID', meaning: 'Its TEMPORAL_WORKER_BUILD_ID', isOptional: true }],
    options: [{ name: 'unversioned', meaning: 'To workers without TEMPORAL_DEPLOYMENT_NAME' }],
    effect: 'dangerous',
  },
  {
    noun: 'worker-versions',
    name: 'ramp',
    operate: ['worker-versions', 'ramp'],
    summary:
      'Gives a share of the workflows to the workers of a release, once they poll, and leaves the others where they are.',
    operands: [
      { name: 'BUILD_ID', meaning: 'Its TEMPORAL_WORKER_BUILD_ID' },
      { name: 'PERCENT', meaning: 'From 0 to 100' },
    ],
    effect: 'dangerous',
  },
  {
    noun: 'restores',
    name: 'catch-up',
    operate: ['after-restore'],
    summary: 'Catches up with the providers after an older Postgres was restored.',
    options: [
      { name: 'since', value: 'INSTANT', isRequired: true, meaning: 'What the restored database shows' },
      { name: 'end', value: 'ID', isRepeated: true, meaning: 'A revived transfer that ends again' },
      { name: 'resume', value: 'ID', isRepeated: true, meaning: 'A revived transfer that continues' },
      { name: 'position-gap', value: 'N', meaning: 'By how much positions of events jump ahead' },
    ],
    effect: 'dangerous',
    isText: true,
  },
];
